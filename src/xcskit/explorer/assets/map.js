// The states, on their grid or as a list: what is chosen there, and what holds there.

/**
 * A way to colour the states.
 * @typedef {object} View
 * @property {string} label
 * @property {string} legend
 * @property {boolean} isError whether more is worse
 * @property {(values: Values, state: number) => number} number
 * @property {(values: Values, state: number) => number[]} actions
 */

/** @type {Record<string, View>} */
const VIEWS = {
  learned: {
    label: "Learned",
    legend: "max Q̂, and the greedy actions",
    isError: false,
    number: (values, state) => values.v(state),
    actions: (values, state) => values.greedy(state),
  },
  optimal: {
    label: "Optimal",
    legend: "V*, and the optimal actions",
    isError: false,
    number: (values, state) => values.vStar(state),
    actions: (values, state) => values.optimal(state),
  },
  error: {
    label: "Error",
    legend: "mean |Q* − Q̂| over the actions",
    isError: true,
    number: (values, state) => values.error(state),
    actions: (values, state) => values.greedy(state),
  },
};

/** The share of the range of V* that the darkest colour of an error stands for. */
const GREATEST_ERROR = 0.25;

/** What the grid and the list share. Arrow keys move; where the focus is, is what is chosen. */
class StateMap {
  /**
   * @param {HTMLElement} root
   * @param {Values} values
   * @param {(state: number) => void} onSelect
   */
  constructor(root, values, onSelect) {
    this.root = root;
    this.values = values;
    this.content = values.content;
    this.onSelect = onSelect;
    this.view = VIEWS.learned;
    this.selected = -1;
    /** @type {HTMLElement[]} the item of each state */
    this.items = [];
    const counted = [...this.content.counted].map((state) => values.vStar(state));
    /** The values of the first and the last colour. */
    this.limits = [counted.reduce((a, b) => Math.min(a, b)), counted.reduce((a, b) => Math.max(a, b))];
    this.format = decimalsFor(this.limits[1] - this.limits[0]);
    root.addEventListener("click", (event) => {
      const item = /** @type {Element} */ (event.target).closest("[data-state]");
      if (item instanceof HTMLElement) this.go(Number(item.dataset.state));
    });
  }

  /** @param {View} view */
  colourBy(view) {
    this.view = view;
    this.root.classList.toggle("error", view.isError);
    this.refresh(this.items.keys());
  }

  /** The least and the greatest number that the colours tell apart. */
  get scale() {
    const [low, high] = this.limits;
    return this.view.isError ? [0, GREATEST_ERROR * (high - low)] : [low, high];
  }

  /**
   * Show the values of some states anew.
   * @param {Iterable<number>} states
   */
  refresh(states) {
    for (const state of states) this.paint(this.items[state], state);
  }

  /**
   * Show the values of a state.
   * @param {HTMLElement} item
   * @param {number} state
   */
  paint(item, state) {
    if (this.content.is_terminal[state]) return;
    const number = this.view.number(this.values, state);
    const actions = this.view.actions(this.values, state);
    const [low, high] = this.scale;
    const share = high > low ? (number - low) / (high - low) : 0.5;
    item.style.setProperty("--share", String(Math.min(Math.max(share || 0, 0), 1).toFixed(3)));
    item.classList.toggle("wrong", this.isWrong(state));
    item.classList.toggle("hole", this.values.hasHole(state));
    this.write(item, state, actions, this.format(number));
  }

  /**
   * Whether the policy counts in a state, and differs from the optimum.
   * @param {number} state
   */
  isWrong(state) {
    const { isCounted, isCorrect } = this.values;
    return !!isCounted[state] && !isCorrect[state] && !this.values.hasHole(state);
  }

  /**
   * Write actions and number of a state into its item.
   * @param {HTMLElement} _item
   * @param {number} _state
   * @param {number[]} _actions
   * @param {string} _number
   */
  write(_item, _state, _actions, _number) {}

  /**
   * Choose a state, and bring the focus there.
   * @param {number} state
   */
  go(state) {
    this.select(state);
    this.items[state].focus();
    this.onSelect(state);
  }

  /**
   * Mark a state as chosen.
   * @param {number} state
   */
  select(state) {
    for (const item of this.root.querySelectorAll("[aria-selected=true]")) {
      write(item, { "aria-selected": "false", tabindex: -1 });
    }
    this.selected = state;
    write(this.items[state], { "aria-selected": "true", tabindex: 0 });
  }

  /**
   * Mark the states that a rule matches; null for none.
   * @param {Set<number> | null} states
   */
  cover(states) {
    this.root.classList.toggle("covering", states !== null);
    this.items.forEach((item, state) => item.classList.toggle("covered", !!states?.has(state)));
  }

  /**
   * Say what holds in a state.
   * @param {number} state
   */
  describe(state) {
    const name = nameOf(this.content, state);
    if (this.content.is_terminal[state]) {
      return `${name}: ${this.content.is_goal[state] ? "goal" : "terminal"}`;
    }
    const { values } = this;
    const best = `optimal ${namesOf(this.content, values.optimal(state))}, ${this.format(values.vStar(state))}`;
    if (values.hasHole(state)) return `${name}: an action has no rule; ${best}`;
    const greedy = namesOf(this.content, values.greedy(state));
    const verdict = this.isWrong(state) ? ", not optimal" : "";
    return `${name}: ${greedy}, ${this.format(values.v(state))}${verdict}; ${best}`;
  }
}

/** @type {Record<string, [dx: number, dy: number]>} */
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The states on the grid of their environment. */
class GridMap extends StateMap {
  /**
   * @param {HTMLElement} root
   * @param {Values} values
   * @param {Layout} layout
   * @param {(state: number) => void} onSelect
   */
  constructor(root, values, layout, onSelect) {
    super(root, values, onSelect);
    this.layout = layout;
    this.width = layout.rows[0].length;
    this.height = layout.rows.length;
    /** @type {Map<number, string>} what each rule matches, as it was drawn before */
    this.outlines = new Map();
    /** The state at x + y * width; -1 for none. */
    this.stateAt = new Int32Array(this.width * this.height).fill(-1);
    this.content.is_terminal.forEach((_, state) => {
      const [x, y] = this.place(state);
      this.stateAt[x + y * this.width] = state;
    });
    write(root, { role: "grid", "aria-label": "States: arrow keys move over the grid" });
    root.classList.add("grid");
    root.classList.toggle("fine", Math.max(this.width, this.height) > 12);
    root.style.setProperty("--columns", String(this.width));
    layout.rows.forEach((row, y) => {
      const cells = [...row].map((letter, x) => this.cell(letter, x, y));
      root.append(element("div", { role: "row", class: "row" }, ...cells));
    });
    root.addEventListener("keydown", (event) => this.move(event));
  }

  /**
   * @param {number} state
   * @returns {[x: number, y: number]}
   */
  place(state) {
    return [this.layout.positions[2 * state], this.layout.positions[2 * state + 1]];
  }

  /**
   * @param {string} letter
   * @param {number} x
   * @param {number} y
   */
  cell(letter, x, y) {
    const state = this.stateAt[x + y * this.width];
    if (state < 0) return element("div", { role: "gridcell", class: "cell wall", "aria-label": "wall" });
    const { is_terminal, is_goal } = this.content;
    const kinds = [is_terminal[state] ? "terminal" : "", is_goal[state] ? "goal" : ""];
    const cell = element("div", {
      role: "gridcell",
      class: ["cell", ...kinds].join(" ").trim(),
      "data-state": state,
      tabindex: -1,
      "aria-selected": "false",
      "aria-label": this.describe(state),
    });
    const shown = is_terminal[state]
      ? element("span", { class: "letter", "aria-hidden": "true" }, letter)
      : drawing(
          "svg",
          { viewBox: "-50 -50 100 100", "aria-hidden": "true" },
          drawing("path", { class: "optimal" }),
          drawing("path", { class: "chosen" }),
        );
    cell.append(shown, element("span", { class: "number", "aria-hidden": "true" }));
    this.items[state] = cell;
    return cell;
  }

  /**
   * @override
   * @param {HTMLElement} cell
   * @param {number} state
   * @param {number[]} actions
   * @param {string} number
   */
  write(cell, state, actions, number) {
    const [arrows, text] = cell.children;
    const [optimal, chosen] = arrows.children;
    const hint = this.isWrong(state) ? this.values.optimal(state) : [];
    write(chosen, { d: this.arrows(actions) });
    write(optimal, { d: this.arrows(hint) });
    if (text.textContent !== number) text.textContent = number;
    write(cell, { "aria-label": this.describe(state) });
  }

  /**
   * Draw actions: one through the middle of the cell, several from there.
   * @param {number[]} actions
   */
  arrows(actions) {
    const back = actions.length === 1 ? -30 : 5;
    return actions
      .map((a) => {
        const [dx, dy] = this.layout.moves[a];
        const length = Math.hypot(dx, dy);
        if (length === 0) return "M-9 0a9 9 0 1 0 18 0a9 9 0 1 0-18 0";
        const [ux, uy] = [dx / length, dy / length];
        /** @param {number} along @param {number} aside */
        const at = (along, aside) => `${along * ux - aside * uy} ${along * uy + aside * ux}`;
        return `M${at(back, 0)}L${at(32, 0)}M${at(14, -16)}L${at(32, 0)}L${at(14, 16)}`;
      })
      .join("");
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const [dx, dy] = KEYS[event.key] ?? [0, 0];
    const isEnd = event.key === "End";
    if ((!dx && !dy && !isEnd && event.key !== "Home") || this.selected < 0) return;
    event.preventDefault();
    let [x, y] = this.place(this.selected);
    if (!dx && !dy) x = isEnd ? this.width : -1;
    const step = dx || dy ? [dx, dy] : [isEnd ? -1 : 1, 0];
    for (;;) {
      [x, y] = [x + step[0], y + step[1]];
      if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
      const state = this.stateAt[x + y * this.width];
      if (state >= 0) return this.go(state); // walls are jumped over
    }
  }

  /**
   * @override
   * @param {Set<number> | null} states
   */
  cover(states) {
    super.cover(states);
    for (const state of states ?? []) {
      const [x, y] = this.place(state);
      for (const [side, [dx, dy]] of Object.entries(SIDES)) {
        this.items[state].classList.toggle(side, !states?.has(this.neighbour(x + dx, y + dy)));
      }
    }
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  neighbour(x, y) {
    const isInside = x >= 0 && y >= 0 && x < this.width && y < this.height;
    return isInside ? this.stateAt[x + y * this.width] : -1;
  }

  /**
   * Draw what a rule matches as a small map.
   * @param {number} rule
   * @param {number} here the state that is looked at
   */
  miniature(rule, here) {
    const { width, height } = this;
    const [x, y] = this.place(here);
    const outline = this.outlines.get(rule) ?? this.outline(statesOf(this.values, rule));
    this.outlines.set(rule, outline);
    return drawing(
      "svg",
      { class: "miniature", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      drawing("rect", { width, height }),
      drawing("path", { d: outline }),
      drawing("circle", { cx: x + 0.5, cy: y + 0.5, r: Math.max(width, height) / 16 }),
    );
  }

  /**
   * Draw states as bars, one for neighbours in a row.
   * @param {Set<number>} states
   */
  outline(states) {
    const bars = [];
    for (const state of states) {
      const [x, y] = this.place(state);
      if (states.has(this.neighbour(x - 1, y))) continue;
      let end = x + 1;
      while (states.has(this.neighbour(end, y))) end++;
      bars.push(`M${x} ${y}h${end - x}v1h${x - end}z`);
    }
    return bars.join("");
  }
}

const SIDES = { top: [0, -1], right: [1, 0], bottom: [0, 1], left: [-1, 0] };

/** The states in a list, where they lie on no grid. */
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
   * @param {number} state
   * @param {number[]} actions
   * @param {string} number
   */
  write(item, state, actions, number) {
    const hint = this.isWrong(state) ? ` (optimal: ${namesOf(this.content, this.values.optimal(state))})` : "";
    const hole = this.values.hasHole(state) ? "an action has no rule" : "";
    item.children[1].textContent = hole || namesOf(this.content, actions) + hint;
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
    return element("div", { class: "filters", role: "group", "aria-label": "Which states" }, ...labels);
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
