// Messages after actions. The server writes them into the page; this lets them go again, and adds those of htmx.
import { icon } from "./icon.js";

const STAYS = 6000;
const STAYS_WITH_UNDO = 20000;
const SIGNS = { good: "circle-check", bad: "circle-alert", warn: "triangle-alert" };

class ToastList extends HTMLElement {
  connectedCallback() {
    if (this.hasAttribute("data-still")) return;
    for (const toast of this.children) this.#dress(toast);
    document.addEventListener("toast", (event) => this.say(event.detail.text, event.detail.tone));
    document.addEventListener("htmx:sendError", () => this.say("The server cannot be reached. Try again in a moment.", "bad"));
  }

  say(text, tone = "good") {
    const toast = document.createElement("div");
    toast.className = `toast ${tone}`;
    toast.setAttribute("role", "status");
    const words = document.createElement("p");
    words.textContent = text;
    toast.append(icon(SIGNS[tone] ?? "info"), words);
    this.append(toast);
    this.#dress(toast);
  }

  #dress(toast) {
    const close = document.createElement("button");
    close.type = "button";
    close.className = "button quiet square small";
    close.setAttribute("aria-label", "Close the message");
    close.append(icon("x"));
    close.addEventListener("click", () => toast.remove());
    toast.append(close);
    // What is being read or about to be used stays.
    const leave = () => (toast.matches(":hover, :focus-within") ? setTimeout(leave, STAYS) : toast.remove());
    const stays = toast.querySelector("form") ? STAYS_WITH_UNDO : STAYS;
    if (!toast.classList.contains("bad")) setTimeout(leave, stays);
  }
}

customElements.define("toast-list", ToastList);
