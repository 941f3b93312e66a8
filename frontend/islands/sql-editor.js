// The SQL editor: CodeMirror over the form's textarea. Without scripts the form is sent as it is.
// It is around a form that asks, or around one field of a larger form that does not.
import { autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap, completionStatus, startCompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching } from "@codemirror/language";
import { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, drawSelection, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { Names, coloured, language } from "./sql-language.js";
import { token } from "./token.js";

const look = EditorView.theme({
  "&": { minHeight: "190px", maxHeight: "46vh", color: "var(--text)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", minHeight: "190px" },
  ".cm-content": { padding: "10px 0", caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { background: "transparent", border: "0", color: "var(--text-3)" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "34px" },
  ".cm-placeholder": { color: "var(--text-3)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { background: "var(--accent-soft)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { background: "var(--pressed)" },
  ".cm-wrong": { background: "var(--bad-soft)", boxShadow: "inset 2px 0 var(--bad)" },
  ".cm-tooltip": { background: "var(--raised)", color: "var(--text)", border: "1px solid var(--line-strong)", borderRadius: "6px", overflow: "hidden" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "12px" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "3px 8px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { marginLeft: "12px", fontStyle: "normal", opacity: "0.8" },
});

// The line that the last answer complained about, until something is typed.
const complain = StateEffect.define();
const complaint = StateField.define({
  create: () => Decoration.none,
  update(marks, change) {
    for (const effect of change.effects) {
      if (effect.is(complain)) return effect.value === null ? Decoration.none : Decoration.set([wrong.range(effect.value)]);
    }
    return change.docChanged ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});
const wrong = Decoration.line({ class: "cm-wrong" });

// Typed over coloured text, a browser would give the new text that colour by an inline style, which the policy forbids.
const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { from, to, empty } = view.state.selection.main;
    if (event.inputType !== "insertText" || event.isComposing || empty || !event.data) return false;
    event.preventDefault();
    const insert = () => view.state.update(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    const taken = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, event.data, insert));
    if (!taken) view.dispatch(insert());
    return true;
  },
});

class SqlEditor extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector("form");
    this.text = this.querySelector("textarea");
    this.stopper = this.querySelector("[data-stop-button]");
    this.runner = this.querySelector("[data-run]");
    this.clock = this.querySelector("[data-clock]");
    this.status = this.querySelector("[data-status]");
    this.names = new Names(this.dataset);
    this.language = new Compartment();
    this.#edit();
    this.form?.addEventListener("submit", (event) => this.#sent(event));
    this.stopper?.addEventListener("click", () => this.#stop());
    if (this.dataset.getNames) this.names.load().then((schema) => this.#know(schema)).then(() => this.#learn());
  }

  #edit() {
    // In a shadow root styles are adopted: a style element would be against the policy.
    const place = document.createElement("div");
    place.className = "sql-code";
    const root = place.attachShadow({ mode: "open" });
    this.text.before(place);
    this.text.hidden = true;
    this.view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: this.text.value,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          autocompletion({ icons: false }),
          typedOver,
          placeholder("SELECT …"),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "SQL", spellcheck: "false" }),
          EditorView.updateListener.of((update) => update.docChanged && this.#changed()),
          keymap.of([
            ...(this.form ? [{ key: "Mod-Enter", run: () => (this.form.requestSubmit(this.runner), true) }] : []),
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...historyKeymap,
            ...completionKeymap,
          ]),
          this.language.of(language({})),
          coloured,
          complaint,
          look,
        ],
      }),
    });
    if (this.form && !this.text.value) this.view.focus();
  }

  #changed() {
    this.text.value = this.view.state.doc.toString();
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.#learn(), 250);
  }

  #know(schema) {
    if (!schema) return;
    this.view.dispatch({ effects: this.language.reconfigure(language(schema)) });
    // Who waits for a name gets it now.
    const { head } = this.view.state.selection.main;
    const waits = this.view.hasFocus && this.view.state.sliceDoc(head - 1, head) === ".";
    if (waits || completionStatus(this.view.state)) startCompletion(this.view);
  }

  async #learn() {
    this.#know(await this.names.about(this.text.value));
  }

  async #sent(event) {
    const button = event.submitter;
    // A query that is saved for the first time is asked for its name, on a page of its own.
    if (button && button !== this.runner && !button.hasAttribute("data-save")) return;
    event.preventDefault();
    if (button?.hasAttribute("data-save")) return this.#save(button);
    if (this.query) return;
    closeCompletion(this.view);
    this.query = `q_${Array.from(crypto.getRandomValues(new Uint8Array(12)), (n) => n.toString(16).padStart(2, "0")).join("")}`;
    const body = new URLSearchParams(new FormData(this.form));
    body.set("query", this.query);
    this.#busy(true);
    const answer = await this.#post(this.form.action, body);
    this.query = "";
    this.#busy(false);
    this.#show(answer && new DOMParser().parseFromString(await answer.text(), "text/html"));
  }

  // What is open is saved without leaving, so that its rows stay.
  async #save(button) {
    const answer = await this.#post(button.formAction, new URLSearchParams(new FormData(this.form)));
    const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
    const text = page && page.querySelector("toast-list p")?.textContent;
    const detail = text ? { text } : { text: "It could not be saved. Reload the page and try again.", tone: "bad" };
    document.dispatchEvent(new CustomEvent("toast", { detail }));
  }

  #post(address, body) {
    const headers = { Accept: "text/html", "X-CSRF-Token": token() };
    return fetch(address, { method: "POST", body, headers }).catch(() => null);
  }

  // A query that has not reached the worker yet cannot be stopped there: it is asked for again until it can, or has ended.
  async #stop() {
    const query = this.query;
    this.stopper.disabled = true;
    while (query && this.query === query) {
      const answer = await this.#post(this.dataset.stop, new URLSearchParams({ query }));
      if (!answer || answer.status !== 202) break;
      await new Promise((done) => setTimeout(done, 200));
    }
  }

  #busy(is) {
    this.stopper.hidden = !is;
    this.stopper.disabled = false;
    this.runner.disabled = is;
    this.status.textContent = is ? "Running" : "";
    document.querySelector("#result").classList.toggle("waiting", is);
    clearInterval(this.ticking);
    this.clock.textContent = "";
    if (!is) return;
    const began = performance.now();
    this.ticking = setInterval(() => (this.clock.textContent = `${((performance.now() - began) / 1000).toFixed(1)} s`), 100);
  }

  #show(page) {
    const fresh = page?.querySelector("#result");
    const result = document.querySelector("#result");
    if (fresh) result.replaceChildren(...fresh.childNodes);
    else result.replaceChildren(page?.querySelector("main .failure") ?? "The server does not answer. Try again.");
    const asked = page?.querySelector("#asked");
    if (asked) document.querySelector("#asked").replaceChildren(...asked.childNodes);
    window.htmx?.process(result);
    this.status.textContent = result.querySelector("h2, .notice-title")?.textContent ?? "";
    const place = result.querySelector("[data-line]");
    const line = place ? Math.min(Number(place.dataset.line), this.view.state.doc.lines) : 0;
    this.view.dispatch({ effects: complain.of(line ? this.view.state.doc.line(line).from : null) });
  }
}

customElements.define("sql-editor", SqlEditor);
