// What the rules that are kept say: Qhat, its error and its policy. Numbers only.

/**
 * A rule set, the optimum beside it, and how it compacts, as the package wrote it.
 * A pair is a state and an action, `state * nActions + action`.
 *
 * @typedef {object} Content
 * @property {string} version
 * @property {string} name of the environment
 * @property {number} gamma
 * @property {string[]} action_names
 * @property {string[]} dimension_names
 * @property {Float64Array} observations a row a state
 * @property {Int32Array} counted S: the states that metrics and compaction run over
 * @property {Uint8Array} is_terminal
 * @property {Uint8Array} is_goal
 * @property {number} start the likeliest state to start in
 * @property {Layout | null} layout
 * @property {Float64Array} q_star of each pair
 * @property {Uint8Array} is_optimal of each pair
 * @property {[condition: string, prediction: string, standing: string][]} rules in words
 * @property {Int32Array} rule_actions
 * @property {Float64Array} fitness of each rule
 * @property {Float64Array} numerosity of each rule
 * @property {Int32Array} first the rules of pair p are members[first[p]] to members[first[p + 1]]
 * @property {Int32Array} members
 * @property {Float64Array} predictions of the members, in their pair
 * @property {PathContent[]} paths empty where some pair of S is matched by no rule
 * @property {Float64Array | null} regret of the whole rule set
 */

/**
 * @typedef {object} Layout
 * @property {string[]} rows the characters of the map
 * @property {Int32Array} positions x and y of each state
 * @property {[dx: number, dy: number][]} moves of each action
 */

/**
 * @typedef {object} PathContent
 * @property {string} name of the mass
 * @property {Float64Array} drop_out a rule is kept at rho exactly when rho < drop_out
 * @property {Float64Array} regret at every breakpoint
 */

const ARRAYS = { f8: Float64Array, i4: Int32Array, u1: Uint8Array };

/**
 * Read the content that stands in the page.
 * @param {string} text
 * @returns {Content}
 */
function readContent(text) {
  return JSON.parse(text, (_, value) => {
    if (value === null || value.packed === undefined) return value;
    const characters = atob(value.data);
    const bytes = new Uint8Array(characters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
    return new ARRAYS[/** @type {keyof typeof ARRAYS} */ (value.packed)](bytes.buffer);
  });
}

/** The values of the rules that are kept, and how far they are from the optimum. */
class Values {
  /** @param {Content} content */
  constructor(content) {
    this.content = content;
    this.nActions = content.action_names.length;
    this.nRules = content.fitness.length;
    const nPairs = content.q_star.length;
    const nCounted = content.counted.length * this.nActions;
    this.kept = new Uint8Array(this.nRules).fill(1);
    this.q = new Float64Array(nPairs);
    this.isCorrect = new Uint8Array(nPairs / this.nActions);
    this.isCounted = new Uint8Array(this.isCorrect.length);
    const [firstPair, pairs] = pairsByRule(content, nPairs);
    /** The pairs of each rule are pairs[firstPair[rule]] to pairs[firstPair[rule + 1]]. */
    this.firstPair = firstPair;
    this.pairs = pairs;
    /** A tree of the errors of S, with a leaf a pair, as `GnmcPath.table` has: the same sums. */
    this.tree = new Float64Array(2 << (32 - Math.clz32(Math.max(nCounted - 1, 1))));
    this.leaf = new Int32Array(nPairs).fill(-1);
    this.stamp = new Int32Array(nPairs).fill(-1);
    this.generation = 0;
    this.nKept = this.nRules;
    this.nMicroclassifiers = content.numerosity.reduce((sum, n) => sum + n, 0);
    this.nCorrect = 0;
    this.nHoles = 0;
    content.counted.forEach((state, row) => {
      this.isCounted[state] = 1;
      for (let a = 0; a < this.nActions; a++) {
        this.leaf[state * this.nActions + a] = row * this.nActions + a;
      }
    });
    for (let pair = 0; pair < nPairs; pair++) {
      this.value(pair);
      if (this.leaf[pair] >= 0 && Number.isNaN(this.q[pair])) this.nHoles++;
    }
    for (let state = 0; state < this.isCorrect.length; state++) this.judge(state);
  }

  /** The states of S in which every action has a value. */
  get nDefined() {
    const { counted } = this.content;
    return this.nHoles ? counted.filter((state) => !this.hasHole(state)).length : counted.length;
  }

  /** The mean of |Q* - Qhat| over the pairs of S that have a value. */
  get meanAbsoluteError() {
    return this.tree[1] / (this.content.counted.length * this.nActions - this.nHoles);
  }

  get policyAccuracy() {
    return this.nCorrect / this.nDefined;
  }

  /**
   * Keep some rules and no others, and give the states whose values this changes.
   * @param {(rule: number) => boolean} isKept
   */
  keep(isKept) {
    const changed = [];
    for (let rule = 0; rule < this.nRules; rule++) {
      if (isKept(rule) !== (this.kept[rule] === 1)) changed.push(rule);
    }
    return this.turn(changed);
  }

  /**
   * Drop the given rules if they are kept, else keep them; give the states whose values change.
   * @param {Iterable<number>} rules
   * @returns {number[]}
   */
  turn(rules) {
    this.generation++;
    const changed = [];
    for (const rule of rules) {
      const change = this.kept[rule] ? -1 : 1;
      this.kept[rule] += change;
      this.nKept += change;
      this.nMicroclassifiers += change * this.content.numerosity[rule];
      for (let k = this.firstPair[rule]; k < this.firstPair[rule + 1]; k++) {
        const pair = this.pairs[k];
        if (this.stamp[pair] === this.generation) continue;
        this.stamp[pair] = this.generation;
        changed.push(pair);
      }
    }
    const states = new Set();
    for (const pair of changed) {
      this.value(pair);
      states.add(Math.floor(pair / this.nActions));
    }
    for (const state of states) this.judge(state);
    return [...states];
  }

  /**
   * Value a pair: the mean prediction of its rules, weighted by fitness; NaN if none is kept.
   * Both sums run in rule order, as those of the learner do.
   * @param {number} pair
   */
  value(pair) {
    const { first, members, predictions, fitness, q_star } = this.content;
    let numerator = 0;
    let denominator = 0;
    for (let k = first[pair]; k < first[pair + 1]; k++) {
      const rule = members[k];
      if (!this.kept[rule]) continue;
      numerator += fitness[rule] * predictions[k];
      denominator += fitness[rule];
    }
    const value = denominator === 0 ? NaN : numerator / denominator;
    this.q[pair] = value;
    if (this.leaf[pair] < 0) return;
    let node = this.tree.length / 2 + this.leaf[pair];
    this.tree[node] = Number.isNaN(value) ? 0 : Math.abs(q_star[pair] - value);
    for (node >>= 1; node >= 1; node >>= 1) {
      this.tree[node] = this.tree[2 * node] + this.tree[2 * node + 1];
    }
  }

  /**
   * See whether a greedy action of a state is optimal.
   * @param {number} state
   */
  judge(state) {
    const begin = state * this.nActions;
    let greatest = -Infinity;
    let isCorrect = 0;
    for (let pair = begin; pair < begin + this.nActions; pair++) {
      if (this.q[pair] > greatest) {
        greatest = this.q[pair];
        isCorrect = 0;
      }
      if (this.q[pair] === greatest) isCorrect |= this.content.is_optimal[pair];
    }
    if (this.hasHole(state)) isCorrect = 0;
    this.nCorrect += this.isCounted[state] * (isCorrect - this.isCorrect[state]);
    this.isCorrect[state] = isCorrect;
  }

  /** @param {number} state */
  hasHole(state) {
    for (let pair = state * this.nActions; pair < (state + 1) * this.nActions; pair++) {
      if (Number.isNaN(this.q[pair])) return true;
    }
    return false;
  }

  /**
   * The values of a state's actions.
   * @param {number} state
   */
  qOf(state) {
    return this.q.subarray(state * this.nActions, (state + 1) * this.nActions);
  }

  /**
   * The actions of the greatest value, exact ties included; none where there is a hole.
   * @param {number} state
   * @returns {number[]}
   */
  greedy(state) {
    const values = this.qOf(state);
    const greatest = Math.max(...values); // NaN where any is
    return [...values.keys()].filter((a) => values[a] === greatest);
  }

  /**
   * The optimal actions; none in terminal states.
   * @param {number} state
   * @returns {number[]}
   */
  optimal(state) {
    const actions = [...this.content.action_names.keys()];
    return actions.filter((a) => this.content.is_optimal[state * this.nActions + a]);
  }

  /** @param {number} state */
  v(state) {
    return Math.max(...this.qOf(state));
  }

  /** @param {number} state */
  vStar(state) {
    return Math.max(...this.qStarOf(state));
  }

  /**
   * Q* of a state's actions.
   * @param {number} state
   */
  qStarOf(state) {
    return this.content.q_star.subarray(state * this.nActions, (state + 1) * this.nActions);
  }

  /**
   * The mean of |Q* - Qhat| over a state's actions.
   * @param {number} state
   */
  error(state) {
    const best = this.qStarOf(state);
    return this.qOf(state).reduce((sum, q, a) => sum + Math.abs(best[a] - q), 0) / this.nActions;
  }
}

/**
 * Turn the niches round: which pairs each rule stands in.
 * @param {Content} content
 * @param {number} nPairs
 * @returns {[Int32Array, Int32Array]}
 */
function pairsByRule({ first, members, fitness }, nPairs) {
  const begin = new Int32Array(fitness.length + 1);
  members.forEach((rule) => begin[rule + 1]++);
  for (let rule = 0; rule < fitness.length; rule++) begin[rule + 1] += begin[rule];
  const next = begin.slice();
  const pairs = new Int32Array(members.length);
  for (let pair = 0; pair < nPairs; pair++) {
    for (let k = first[pair]; k < first[pair + 1]; k++) pairs[next[members[k]]++] = pair;
  }
  return [begin, pairs];
}
