// The browser opens and closes menus by itself; this adds the arrow keys.
class ActionMenu extends HTMLElement {
  connectedCallback() {
    this.addEventListener("keydown", (event) => this.#move(event));
    const panel = this.querySelector("[popover]");
    panel?.addEventListener("toggle", (event) => {
      const button = this.querySelector("[popovertarget]");
      button.setAttribute("aria-expanded", String(event.newState === "open"));
      // The event comes late: whoever is quick may already be further down.
      const within = panel.contains(document.activeElement);
      if (event.newState === "open" && !within) this.#items()[0]?.focus({ focusVisible: this.keyed });
    });
    this.addEventListener("pointerdown", () => (this.keyed = false));
  }

  keyed = true;

  #items() {
    return [...this.querySelectorAll("[popover] :is(a, button)")];
  }

  #move(event) {
    const panel = this.querySelector("[popover]");
    if (!panel?.matches(":popover-open")) {
      this.keyed = true;
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      panel.showPopover({ source: this.querySelector("[popovertarget]") });
      this.#items()[0]?.focus();
      return;
    }
    const items = this.#items();
    const at = items.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (to === undefined || !items.length) return;
    event.preventDefault();
    items[(to + items.length) % items.length].focus();
  }
}

customElements.define("action-menu", ActionMenu);
