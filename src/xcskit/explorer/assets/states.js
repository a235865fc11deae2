// What the states show: what is learned there, what is optimal, or the error.

/**
 * A way to colour the states.
 * @typedef {object} View
 * @property {string} label
 * @property {string} legend
 * @property {boolean} isLearned whether it shows what the rules say, which can be wrong or missing
 * @property {boolean} isError whether more is worse
 * @property {(values: Values, state: number) => number} number
 * @property {(values: Values, state: number) => number[]} actions
 */

/** @type {Record<string, View>} */
const VIEWS = {
  learned: {
    label: "Learned",
    legend: "max Q̂, and the greedy actions",
    isLearned: true,
    isError: false,
    number: (values, state) => values.v(state),
    actions: (values, state) => values.greedy(state),
  },
  optimal: {
    label: "Optimal",
    legend: "V*, and the optimal actions",
    isLearned: false,
    isError: false,
    number: (values, state) => values.vStar(state),
    actions: (values, state) => values.optimal(state),
  },
  error: {
    label: "Error",
    legend: "mean |Q* − Q̂| over the actions",
    isLearned: true,
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
    /** @type {string[]} what each item shows, lest it be painted again */
    this.painted = [];
    const counted = [...this.content.counted].map((state) => values.vStar(state));
    /** The values of the first and the last colour. */
    this.limits = [
      counted.reduce((a, b) => Math.min(a, b)),
      counted.reduce((a, b) => Math.max(a, b)),
    ];
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
    const colour = Math.min(Math.max(share || 0, 0), 1).toFixed(2);
    const isWrong = this.view.isLearned && this.isWrong(state);
    const isHole = this.view.isLearned && this.values.hasHole(state);
    const text = this.format(number);
    const painted = [this.view.label, colour, isWrong, isHole, text, ...actions].join();
    if (this.painted[state] === painted) return;
    this.painted[state] = painted;
    item.style.setProperty("--share", colour);
    item.classList.toggle("wrong", isWrong);
    item.classList.toggle("hole", isHole);
    write(item, { "aria-label": this.describe(state) });
    this.write(item, text, actions, isWrong ? this.values.optimal(state) : []);
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
   * Write a number and actions into the item of a state.
   * @param {HTMLElement} _item
   * @param {string} _number
   * @param {number[]} _actions
   * @param {number[]} _hint what would be optimal, where the actions are not
   */
  write(_item, _number, _actions, _hint) {}

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
