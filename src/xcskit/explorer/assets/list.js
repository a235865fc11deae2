// The states in a list, where they lie on no grid.

/** A list of states, which a choice a dimension narrows. */
class ListMap extends StateMap {
  /**
   * @param {HTMLElement} root
   * @param {Values} values
   * @param {(state: number) => void} onSelect
   */
  constructor(root, values, onSelect) {
    super(root, values, onSelect);
    write(root, { role: "listbox", "aria-label": "States: arrow keys move over the list" });
    root.classList.add("list");
    this.content.is_terminal.forEach((isTerminal, state) => {
      const kind = isTerminal ? "terminal" : this.content.is_goal[state] ? "goal" : "";
      this.items[state] = element(
        "div",
        {
          role: "option",
          class: `item ${kind}`.trim(),
          "data-state": state,
          tabindex: -1,
          "aria-selected": "false",
        },
        element("span", { class: "name" }, nameOf(this.content, state)),
        element("span", { class: "actions" }, isTerminal ? "terminal" : ""),
        element("span", { class: "number" }),
      );
    });
    root.append(...this.items);
    root.addEventListener("keydown", (event) => this.move(event));
  }

  /**
   * @override
   * @param {HTMLElement} item
   * @param {string} number
   * @param {number[]} actions
   * @param {number[]} hint
   */
  write(item, number, actions, hint) {
    const names = namesOf(this.content, actions) || "an action has no rule";
    const better = hint.length ? ` (optimal: ${namesOf(this.content, hint)})` : "";
    item.children[1].textContent = names + better;
    item.children[2].textContent = number;
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const shown = this.items.filter((item) => !item.hidden);
    const here = shown.indexOf(this.items[this.selected]);
    /** @type {Record<string, number>} */
    const targets = { ArrowUp: here - 1, ArrowDown: here + 1, Home: 0, End: shown.length - 1 };
    const target = shown[targets[event.key]];
    if (target === undefined) return;
    event.preventDefault();
    this.go(Number(target.dataset.state));
  }

  /**
   * Make what narrows the list: a choice a dimension.
   * @returns {HTMLElement}
   */
  filters() {
    const { dimension_names: names, observations } = this.content;
    const selects = names.map((name, d) => {
      const seen = new Set(this.items.map((_, state) => observations[state * names.length + d]));
      const options = [...seen].sort((a, b) => a - b).map((value) => new Option(String(value)));
      const select = element("select", {}, new Option("any", ""), ...options);
      select.addEventListener("change", () => this.narrow(selects));
      return select;
    });
    const labels = names.map((name, d) => element("label", {}, `${name} `, selects[d]));
    return element(
      "div",
      { class: "filters", role: "group", "aria-label": "Which states" },
      ...labels,
    );
  }

  /** @param {HTMLSelectElement[]} selects */
  narrow(selects) {
    const { observations } = this.content;
    this.items.forEach((item, state) => {
      const begin = state * selects.length;
      item.hidden = selects.some(
        ({ value }, d) => value !== "" && Number(value) !== observations[begin + d],
      );
    });
  }
}
