// "Are you sure?" before forms with data-confirm. The server asks by itself where there are no scripts.
class ConfirmDialog extends HTMLElement {
  connectedCallback() {
    this.dialog = this.querySelector("dialog");
    // Before htmx, which would send the form.
    document.addEventListener("submit", (event) => this.#ask(event), true);
    this.dialog.addEventListener("close", () => this.dialog.returnValue === "yes" && this.#go());
  }

  #ask(event) {
    const { confirm, confirmDo } = event.target.dataset;
    if (!confirm || event.target.elements.confirmed) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.form = event.target;
    this.submitter = event.submitter;
    this.querySelector("#confirm-question").textContent = confirm;
    this.querySelector("[data-do]").textContent = confirmDo || "Continue";
    this.dialog.returnValue = "";
    this.dialog.showModal();
  }

  #go() {
    const answer = document.createElement("input");
    Object.assign(answer, { type: "hidden", name: "confirmed", value: "1" });
    this.form.append(answer);
    this.form.requestSubmit(this.submitter);
    answer.remove();
  }
}

customElements.define("confirm-dialog", ConfirmDialog);
