// Compaction as a path: a set of rules for every rho, nested. Numbers only.

/**
 * What there is to say of the rules at one stop.
 * @typedef {object} Measures
 * @property {number} rules
 * @property {number} micros
 * @property {number} error
 * @property {number} accuracy
 * @property {number} regret
 */

/** The sets of one mass. Stop 0 is the whole rule set; each later one is a breakpoint. */
class Path {
  /**
   * @param {PathContent} content
   * @param {number} fullRegret
   */
  constructor(content, fullRegret) {
    this.name = content.name;
    this.dropOut = content.drop_out;
    const inside = [...this.dropOut].filter((rho) => rho > 0 && rho < 1);
    /** 0, and every rho at which the set changes. */
    this.breakpoints = Float64Array.from(new Set([0, ...inside])).sort();
    this.regret = Float64Array.of(fullRegret, ...content.regret);
    /** @type {Measures[] | null} */
    this.traced = null;
  }

  get nStops() {
    return this.breakpoints.length + 1;
  }

  /**
   * The stop whose set is that of rho.
   * @param {number} rho in [0, 1)
   */
  stopAt(rho) {
    let low = 0;
    let high = this.breakpoints.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.breakpoints[middle] <= rho) low = middle;
      else high = middle;
    }
    return low + 1;
  }

  /**
   * A rho with the set of a stop: the one of the fewest digits.
   * @param {number} stop at least 1
   * @returns {string}
   */
  rhoAt(stop) {
    return fewestDigits(this.breakpoints[stop - 1], this.breakpoints[stop] ?? 1);
  }

  /**
   * Keep the rules of a stop, and give the states whose values this changes.
   * @param {Values} values
   * @param {number} stop
   * @returns {number[]}
   */
  keep(values, stop) {
    const rho = stop === 0 ? -1 : this.breakpoints[stop - 1];
    return values.keep((rule) => this.dropOut[rule] > rho);
  }

  /**
   * What there is to say of what is kept now.
   * @param {Values} values
   * @param {number} stop
   * @returns {Measures}
   */
  measure(values, stop) {
    return {
      rules: values.nKept,
      micros: values.nMicroclassifiers,
      error: values.meanAbsoluteError,
      accuracy: values.policyAccuracy,
      regret: this.regret[stop],
    };
  }

  /**
   * Measure every stop, once. A rule that leaves costs only its niches.
   * @param {Content} content
   * @returns {Measures[]}
   */
  trace(content) {
    if (this.traced !== null) return this.traced;
    const values = new Values(content);
    const leaving = [...this.dropOut.keys()].sort(
      (one, two) => this.dropOut[one] - this.dropOut[two],
    );
    let n = 0;
    this.traced = Array.from({ length: this.nStops }, (_, stop) => {
      const begin = n;
      while (stop > 0 && this.dropOut[leaving[n]] <= this.breakpoints[stop - 1]) n++;
      values.turn(leaving.slice(begin, n));
      return this.measure(values, stop);
    });
    return this.traced;
  }
}

/**
 * The number in [low, high) of the fewest decimals, in decimals.
 * @param {number} low
 * @param {number} high
 * @returns {string}
 */
function fewestDigits(low, high) {
  for (let digits = 0; digits <= 16; digits++) {
    for (const candidate of [low, low + 10 ** -digits]) {
      const text = candidate.toFixed(digits);
      if (Number(text) >= low && Number(text) < high) return text;
    }
  }
  return String(low);
}
