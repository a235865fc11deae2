// The rules of a state, action by action, and their share of what is predicted there.

/**
 * A rule's line in the list.
 * @typedef {object} Line
 * @property {number} rule
 * @property {HTMLElement} item
 * @property {HTMLElement} bar
 * @property {HTMLDataElement} share
 */

/**
 * What is shown of an action.
 * @typedef {object} ActionPart
 * @property {HTMLButtonElement} tab
 * @property {HTMLElement} greedy shown where the action is
 * @property {HTMLElement} panel
 * @property {HTMLDataElement} q
 * @property {HTMLElement} level
 * @property {HTMLElement} count
 * @property {HTMLElement} summary
 * @property {HTMLElement} list
 * @property {Line[]} lines none until they are looked at
 */

class RulePanel {
  /**
   * @param {HTMLElement} root
   * @param {StateMap} map
   * @param {(rule: number | null) => void} onRule what to do with the rule that is looked at
   */
  constructor(root, map, onRule) {
    this.root = root;
    this.map = map;
    this.values = map.values;
    this.content = map.content;
    this.onRule = onRule;
    this.state = -1;
    this.action = 0;
    /** @type {number | null} the rule that was clicked, and stays marked */
    this.pinned = null;
    root.classList.toggle("unmapped", !(map instanceof GridMap));
    this.verdict = element("p", { class: "verdict" });
    /** @type {ActionPart[]} */
    this.parts = [];
    window.addEventListener("beforeprint", () =>
      this.parts.forEach((_, a) => this.refreshLines(a)),
    );
  }

  /**
   * Show a state.
   * @param {number} state
   */
  show(state) {
    this.state = state;
    this.pin(null);
    const heading = element("h2", { id: "rules-heading" }, `State ${nameOf(this.content, state)}`);
    if (this.content.is_terminal[state]) {
      const kind = this.content.is_goal[state] ? "The goal" : "A terminal state";
      this.parts = [];
      this.root.replaceChildren(heading, element("p", {}, `${kind}: nobody acts here.`));
      return;
    }
    const greedy = this.values.greedy(state);
    this.action = greedy.length ? greedy[0] : this.action;
    this.parts = this.content.action_names.map((name, a) => this.part(name, a));
    const tabs = element("div", { role: "tablist", class: "tabs", "aria-label": "Actions" });
    const nRows = Math.ceil(this.values.nActions / 4);
    tabs.style.setProperty("--columns", String(Math.ceil(this.values.nActions / nRows)));
    tabs.append(...this.parts.map(({ tab }) => tab));
    tabs.addEventListener("keydown", (event) => this.moveTab(event));
    const panels = this.parts.map(({ panel }) => panel);
    this.root.replaceChildren(heading, this.verdict, tabs, ...panels);
    this.choose(this.action);
    this.refresh();
  }

  /**
   * @param {string} name
   * @param {number} a
   * @returns {ActionPart}
   */
  part(name, a) {
    const { values, state, map } = this;
    const best = values.qStarOf(state)[a];
    const isOptimal = values.optimal(state).includes(a);
    const icon =
      map instanceof GridMap
        ? drawing(
            "svg",
            { viewBox: "-50 -50 100 100", "aria-hidden": "true" },
            drawing("path", { d: map.arrows([a]) }),
          )
        : "";
    const [q, optimum] = [element("data"), element("data")];
    show(optimum, best, map.format);
    const [level, tick, count] = [element("i"), element("b"), element("span", { class: "count" })];
    const greedy = element("span", { class: "greedy" }, "● greedy");
    level.className = "level";
    tick.className = "tick";
    tick.style.setProperty("--share", String(this.shareOf(best)));
    const tab = element(
      "button",
      { role: "tab", type: "button", id: `tab-${a}`, "aria-controls": `panel-${a}` },
      element("span", { class: "action" }, icon, name),
      element(
        "span",
        { class: "values" },
        "Q̂ ",
        q,
        element("span", { class: "soft" }, " Q* ", optimum),
      ),
      element("span", { class: "gauge", "aria-hidden": "true" }, level, tick),
      element(
        "span",
        { class: "tags" },
        count,
        greedy,
        isOptimal ? element("span", { class: "good" }, "★ optimal") : "",
      ),
    );
    tab.addEventListener("click", () => this.choose(a));
    const list = element("div", {
      role: "listbox",
      class: "rules",
      "aria-label": `Rules for ${name}`,
    });
    list.addEventListener("keydown", (event) => this.moveLine(event));
    const summary = element("p", { class: "soft" });
    const panel = element(
      "div",
      { role: "tabpanel", id: `panel-${a}`, "aria-labelledby": `tab-${a}` },
      element("h3", { class: "only-print" }, name),
      summary,
      list,
    );
    return { tab, greedy, panel, q, level, count, summary, list, lines: [] };
  }

  /**
   * The places among the members of the rules that match here, for an action.
   * @param {number} a
   */
  placesOf(a) {
    const { first } = this.content;
    const pair = this.state * this.values.nActions + a;
    return Array.from({ length: first[pair + 1] - first[pair] }, (_, k) => first[pair] + k);
  }

  /**
   * Make the lines of an action, the greatest share first: that order holds for all rho.
   * @param {number} a
   */
  fill(a) {
    const { members, fitness, action_names } = this.content;
    const part = this.parts[a];
    const places = this.placesOf(a);
    places.sort((one, two) => fitness[members[two]] - fitness[members[one]] || one - two);
    part.lines = places.map((k) => this.line(k, action_names[a]));
    part.list.replaceChildren(...part.lines.map(({ item }) => item));
  }

  /**
   * @param {number} k the rule's place among the members
   * @param {string} action
   * @returns {Line}
   */
  line(k, action) {
    const { content, values, map } = this;
    const rule = content.members[k];
    const [condition, prediction, standing] = content.rules[rule];
    const here = element("data");
    show(here, content.predictions[k], map.format);
    const [bar, share] = [element("i", { class: "bar" }), element("data", { class: "share" })];
    const item = element(
      "div",
      { role: "option", class: "rule", "aria-selected": "false", tabindex: -1, "data-rule": rule },
      element(
        "span",
        { class: "weight" },
        share,
        element("span", { class: "track", "aria-hidden": "true" }, bar),
      ),
      map instanceof GridMap ? map.miniature(rule, this.state) : "",
      element(
        "span",
        { class: "sentence" },
        keyword("IF"),
        ` ${condition} `,
        keyword("THEN"),
        ` ${action}: ${prediction} `,
        element("span", { class: "soft" }, `(${standing})`),
      ),
      element("span", { class: "here soft" }, "here ", here),
    );
    item.addEventListener("pointerenter", () => this.onRule(rule));
    item.addEventListener("pointerleave", () => this.onRule(this.pinned));
    item.addEventListener("focus", () => this.onRule(rule));
    item.addEventListener("blur", () => this.onRule(this.pinned));
    item.addEventListener("click", () => this.pin(this.pinned === rule ? null : rule));
    return { rule, item, bar, share };
  }

  /** Show what the rules that are kept say now. */
  refresh() {
    const { values, state, map, content } = this;
    if (!this.parts.length) return;
    const greedy = values.greedy(state);
    this.verdict.replaceChildren(...this.words(greedy));
    this.parts.forEach((part, a) => {
      const q = values.qOf(state)[a];
      const places = this.placesOf(a);
      const nKept = places.filter((k) => values.kept[content.members[k]]).length;
      show(part.q, q, map.format);
      part.greedy.hidden = !greedy.includes(a);
      part.level.style.setProperty("--share", String(this.shareOf(q)));
      part.count.textContent = `${nKept} rule${nKept === 1 ? "" : "s"}`;
      part.summary.textContent = this.summary(nKept, places.length);
    });
    this.refreshLines(this.action);
  }

  /**
   * Show which rules of an action are kept, and their shares.
   * @param {number} a
   */
  refreshLines(a) {
    const { kept } = this.values;
    const { members, fitness } = this.content;
    if (!this.parts[a].lines.length) this.fill(a);
    let total = 0; // in rule order, as the mean's own
    for (const k of this.placesOf(a)) total += kept[members[k]] ? fitness[members[k]] : 0;
    const { lines } = this.parts[a];
    for (const { rule, item, bar, share } of lines) {
      item.hidden = !kept[rule];
      if (item.hidden) continue;
      const weight = fitness[rule] / total;
      show(share, weight, (value) => `${(100 * value).toFixed(1)} %`);
      bar.style.setProperty("--share", weight.toFixed(4));
    }
    const shown = lines.filter(({ item }) => !item.hidden);
    const current = shown.find(({ item }) => item.tabIndex === 0) ?? shown[0];
    for (const line of lines) line.item.tabIndex = line === current ? 0 : -1;
  }

  /**
   * @param {number} nKept
   * @param {number} nRules
   */
  summary(nKept, nRules) {
    if (nRules === 0) return "No rule matches here: the value is undefined.";
    const kept =
      nKept === nRules
        ? `${nRules} match here`
        : `${nKept} of the ${nRules} that match here are kept`;
    return `${kept}. A rule's share is its weight in Q̂, by fitness.`;
  }

  /**
   * Say what the policy does here, and whether it is optimal.
   * @param {number[]} greedy
   * @returns {(Node | string)[]}
   */
  words(greedy) {
    const { values, state, content, map } = this;
    const optimal = namesOf(content, values.optimal(state));
    const outside = values.isCounted[state]
      ? ""
      : " Training never comes here, so this state does not count.";
    if (values.hasHole(state)) {
      return [
        element("strong", { class: "bad" }, "An action has no rule"),
        `: the policy is undefined. Optimal: ${optimal}.${outside}`,
      ];
    }
    const best = values.qStarOf(state);
    const loss = values.vStar(state) - best[greedy[0]];
    const value = element("data");
    show(value, values.v(state), map.format);
    const says = [
      element("strong", {}, namesOf(content, greedy)),
      ", which the rules value at ",
      value,
      ". ",
    ];
    if (values.isCorrect[state])
      return [...says, element("strong", { class: "good" }, "✓\u00a0optimal"), `.${outside}`];
    const lost = element("data");
    show(lost, loss, threeDigits);
    return [
      ...says,
      element("strong", { class: "bad" }, "✗\u00a0not optimal"),
      `: ${optimal} is. Choosing ${content.action_names[greedy[0]]} once, and the optimum from then on, loses `,
      lost,
      `.${outside}`,
    ];
  }

  /**
   * Where a value lies between the least and the greatest that V* has.
   * @param {number} value
   */
  shareOf(value) {
    const [low, high] = this.map.limits;
    const share = high > low ? (value - low) / (high - low) : 0.5;
    return Math.min(Math.max(share || 0, 0), 1);
  }

  /**
   * Show the rules of an action.
   * @param {number} action
   */
  choose(action) {
    this.action = action;
    this.refreshLines(action);
    this.parts.forEach(({ tab, panel }, a) => {
      write(tab, { "aria-selected": String(a === action), tabindex: a === action ? 0 : -1 });
      panel.classList.toggle("current", a === action);
    });
  }

  /** @param {KeyboardEvent} event */
  moveTab(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0;
    if (!step) return;
    event.preventDefault();
    this.choose((this.action + step + this.parts.length) % this.parts.length);
    this.parts[this.action].tab.focus();
  }

  /** @param {KeyboardEvent} event */
  moveLine(event) {
    const { lines } = this.parts[this.action];
    const shown = lines.filter(({ item }) => !item.hidden);
    const here = shown.findIndex(({ item }) => item === event.target);
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      const { rule } = shown[here];
      this.pin(this.pinned === rule ? null : rule);
      return;
    }
    /** @type {Record<string, number>} */
    const targets = { ArrowUp: here - 1, ArrowDown: here + 1, Home: 0, End: shown.length - 1 };
    const target = shown[targets[event.key]];
    if (target === undefined) return;
    event.preventDefault();
    for (const line of lines) line.item.tabIndex = line === target ? 0 : -1;
    target.item.focus();
  }

  /**
   * Keep a rule marked; null for none.
   * @param {number | null} rule
   */
  pin(rule) {
    this.pinned = rule;
    for (const { lines } of this.parts) {
      for (const line of lines) write(line.item, { "aria-selected": String(line.rule === rule) });
    }
    this.onRule(rule);
  }
}

/** @param {string} word */
function keyword(word) {
  return element("b", { class: "keyword" }, word);
}

/**
 * The states that a rule matches.
 * @param {Values} values
 * @param {number} rule
 * @returns {Set<number>}
 */
function statesOf({ firstPair, pairs, nActions }, rule) {
  const own = pairs.subarray(firstPair[rule], firstPair[rule + 1]);
  return new Set([...own].map((pair) => Math.floor(pair / nActions)));
}
