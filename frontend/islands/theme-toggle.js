// Light or dark at once. The form behind it does the same with a new page.
import { token } from "./token.js";

class ThemeToggle extends HTMLElement {
  connectedCallback() {
    this.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#choose(event.submitter.value, event.target.action);
    });
  }

  #choose(theme, address) {
    document.documentElement.dataset.theme = theme;
    document.querySelector('meta[name="color-scheme"]').content = theme === "system" ? "light dark" : theme;
    for (const button of document.querySelectorAll("theme-toggle button")) {
      button.setAttribute("aria-pressed", String(button.value === theme));
    }
    const body = new URLSearchParams({ theme });
    fetch(address, { method: "POST", body, headers: { "X-CSRF-Token": token(), "HX-Request": "true" } });
  }
}

customElements.define("theme-toggle", ThemeToggle);
