// A text that is shown once, with a button that copies it. Without scripts it can be selected.
class CopyText extends HTMLElement {
  connectedCallback() {
    this.text = this.querySelector("input");
    this.button = this.querySelector("button");
    this.text.addEventListener("focus", () => this.text.select());
    this.button.addEventListener("click", () => this.#copy());
  }

  async #copy() {
    // Browsers keep the clipboard from pages that are not reached over TLS.
    const done = await navigator.clipboard?.writeText(this.text.value).then(() => true, () => false);
    if (!done) this.#select();
    const said = done ? "Copied" : "Press Ctrl+C to copy";
    this.button.querySelector("span").textContent = said;
    this.querySelector("[role=status]").textContent = said;
  }

  #select() {
    this.text.focus();
    this.text.select();
  }
}

customElements.define("copy-text", CopyText);
