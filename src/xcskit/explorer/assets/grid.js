// The states on their grid, and what a rule matches there.

/** @type {Record<string, [dx: number, dy: number]>} */
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** @type {Record<string, [dx: number, dy: number]>} */
const SIDES = { top: [0, -1], right: [1, 0], bottom: [0, 1], left: [-1, 0] };

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
    /** @type {Map<string, string>} arrows by their actions, as they were drawn before */
    this.drawn = new Map();
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
    if (state < 0)
      return element("div", { role: "gridcell", class: "cell wall", "aria-label": "wall" });
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
   * @param {string} number
   * @param {number[]} actions
   * @param {number[]} hint
   */
  write(cell, number, actions, hint) {
    const [arrows, text] = cell.children;
    const [optimal, chosen] = arrows.children;
    write(chosen, { d: this.arrows(actions) });
    write(optimal, { d: this.arrows(hint) });
    if (text.textContent !== number) text.textContent = number;
  }

  /**
   * Draw actions: one through the middle, several from there.
   * @param {number[]} actions
   */
  arrows(actions) {
    const known = this.drawn.get(actions.join());
    if (known !== undefined) return known;
    const back = actions.length === 1 ? -30 : 5;
    const drawn = actions
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
    this.drawn.set(actions.join(), drawn);
    return drawn;
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
