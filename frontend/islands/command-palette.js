// Ctrl/⌘K: find anything that one may see, and go there. The server searches; the keyboard is enough.
import { icon } from "./icon.js";

const WAIT = 120;

class CommandPalette extends HTMLElement {
  connectedCallback() {
    this.dialog = this.querySelector("dialog");
    this.input = this.querySelector("input");
    this.list = this.querySelector("ul");
    this.none = this.querySelector(".palette-none");
    this.status = this.querySelector('[role="status"]');
    document.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) this.open(event);
    });
    document.addEventListener("click", (event) => {
      if (event.target.closest?.("[data-palette]") && !event.ctrlKey && !event.metaKey) this.open(event);
    });
    this.input.addEventListener("input", () => this.#soon());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.list.addEventListener("click", (event) => this.#go(event.target.closest('[role="option"]')));
    this.list.addEventListener("pointermove", (event) => this.#choose(event.target.closest('[role="option"]')));
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    if (/Mac|iPhone|iPad/.test(navigator.platform)) {
      for (const key of document.querySelectorAll(".nav-search kbd:first-child")) key.textContent = "⌘";
    }
  }

  open(event) {
    event.preventDefault();
    if (this.dialog.open) return;
    document.querySelector("#navigation:popover-open")?.hidePopover();
    this.input.value = "";
    this.dialog.showModal();
    this.input.focus();
    this.#search();
  }

  #soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#search(), WAIT);
  }

  async #search() {
    this.going?.abort();
    this.going = new AbortController();
    const address = `/ui/search?${new URLSearchParams({ q: this.input.value })}`;
    try {
      const answer = await fetch(address, { signal: this.going.signal, headers: { Accept: "application/json" } });
      this.#show(answer.ok ? (await answer.json()).items : []);
    } catch (error) {
      if (error.name !== "AbortError") this.#show([]);
    }
  }

  #show(items) {
    const rows = [];
    let group = "";
    items.forEach((item, at) => {
      if (item.group !== group) rows.push(heading((group = item.group)));
      rows.push(option(item, at));
    });
    this.list.replaceChildren(...rows);
    this.none.hidden = items.length > 0;
    this.status.textContent = items.length === 1 ? "1 found" : `${items.length} found`;
    this.#choose(this.#options()[0]);
  }

  #options() {
    return [...this.list.querySelectorAll('[role="option"]')];
  }

  #choose(chosen) {
    if (!chosen) return this.#options().length || this.input.removeAttribute("aria-activedescendant");
    for (const each of this.#options()) each.setAttribute("aria-selected", String(each === chosen));
    this.input.setAttribute("aria-activedescendant", chosen.id);
  }

  #key(event) {
    const options = this.#options();
    const at = options.findIndex((each) => each.getAttribute("aria-selected") === "true");
    if (event.key === "Enter") {
      event.preventDefault();
      this.#go(options[at]);
      return;
    }
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    if (to === undefined || !options.length) return;
    event.preventDefault();
    const chosen = options[(to + options.length) % options.length];
    this.#choose(chosen);
    chosen.scrollIntoView({ block: "nearest" });
  }

  #go(option) {
    if (!option) return;
    this.dialog.close();
    location.href = option.dataset.href;
  }
}

function heading(text) {
  const row = document.createElement("li");
  row.className = "palette-group";
  row.setAttribute("role", "presentation");
  row.textContent = text;
  return row;
}

function option(item, at) {
  const row = document.createElement("li");
  row.id = `palette-${at}`;
  row.className = "palette-item";
  row.dataset.href = item.href;
  row.setAttribute("role", "option");
  row.setAttribute("aria-selected", "false");
  const label = document.createElement("span");
  label.textContent = item.label;
  const note = document.createElement("small");
  note.textContent = item.note;
  row.append(icon(item.icon || "arrow-right"), label, note);
  return row;
}

customElements.define("command-palette", CommandPalette);
