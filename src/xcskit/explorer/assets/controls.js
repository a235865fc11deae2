// What compacts, and what it costs: the mass, rho, and a tile a measure.

/**
 * A measure's tile.
 * @typedef {object} Measure
 * @property {string} label
 * @property {(value: number) => string} format
 * @property {(content: Content, values: Values) => string} of what the number stands beside
 * @property {(values: number[]) => [low: number, high: number]} limits of its line
 */

/** @type {(values: number[]) => [number, number]} */
const fromZero = (values) => [0, Math.max(...values.filter(Number.isFinite), 0)];

/** @type {Record<keyof Measures, Measure>} */
const MEASURES = {
  rules: {
    label: "Rules",
    format: whole,
    of: (content) => `of ${whole(content.fitness.length)}`,
    limits: fromZero,
  },
  micros: {
    label: "Microclassifiers",
    format: whole,
    of: (content) => `of ${whole(content.numerosity.reduce((sum, n) => sum + n, 0))}`,
    limits: fromZero,
  },
  error: { label: "Value error", format: threeDigits, of: () => "mean |Q* − Q̂|", limits: fromZero },
  accuracy: {
    label: "Policy accuracy",
    format: threeDecimals,
    of: (_, values) => `${values.nCorrect} of ${values.nDefined} states`,
    limits: (values) => [Math.min(...values), 1],
  },
  regret: { label: "Regret", format: threeDigits, of: () => "mean V* − V", limits: fromZero },
};

/** The rhos that are written below the slider, where there is room. */
const MARKS = [0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99];
const ROOM = 0.09;

class Controls {
  /**
   * @param {Values} values
   * @param {(changed: number[]) => void} onChange what to do when other rules are kept
   */
  constructor(values, onChange) {
    this.values = values;
    this.onChange = onChange;
    const { content } = values;
    const regret = content.regret === null ? NaN : content.regret[0];
    this.paths = content.paths.map((path) => new Path(path, regret));
    this.path = this.paths[0];
    this.stop = 0;
    this.slider = /** @type {HTMLInputElement} */ (part("slider"));
    this.field = /** @type {HTMLInputElement} */ (part("rho"));
    this.tiles = this.makeTiles();
    /** @type {Record<string, [number, number]>} what the lines of the tiles span */
    this.limits = {};
    if (this.path === undefined) {
      part("compacting").replaceChildren(
        element("p", { class: "bad", id: "no-path" }, this.noPath()),
      );
      const [error, accuracy] = [values.meanAbsoluteError, values.policyAccuracy];
      this.showTiles({
        rules: values.nKept,
        micros: values.nMicroclassifiers,
        error,
        accuracy,
        regret,
      });
      return;
    }
    part("masses").append(
      ...radios(
        "mass",
        this.paths.map(({ name }) => name.replaceAll("_", " ")),
        (k) => this.take(k),
      ),
    );
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.field.addEventListener("input", () => this.read());
    this.take(0);
  }

  noPath() {
    const nPairs = this.values.content.counted.length * this.values.nActions;
    return (
      `${this.values.nHoles} of ${nPairs} state-action pairs are matched by no rule. Compaction ` +
      "needs a rule for each; error and accuracy leave them out. Train longer to fill these holes."
    );
  }

  makeTiles() {
    const names = /** @type {(keyof Measures)[]} */ (Object.keys(MEASURES));
    return names.map((name) => {
      const [number, of] = [
        element("data", { id: `tile-${name}` }),
        element("span", { class: "soft" }),
      ];
      const [line, dot] = [drawing("path"), element("i", { class: "dot" })];
      const chart = drawing("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none" }, line);
      part("tiles").append(
        element(
          "div",
          { class: "tile" },
          element("dt", {}, MEASURES[name].label),
          element("dd", {}, number, of),
          element("div", { class: "spark", "aria-hidden": "true" }, chart, dot),
        ),
      );
      return { name, number, of, line, dot };
    });
  }

  /**
   * Compact by another mass, at the same rho.
   * @param {number} k
   */
  take(k) {
    const rho = Number(this.field.value || NaN);
    this.path = this.paths[k];
    this.slider.max = String(this.path.nStops - 1);
    this.drawLines();
    this.drawMarks();
    if (this.stop === 0) this.go(0);
    else this.go(this.path.stopAt(rho), this.field.value);
  }

  /** Take the rho that was typed. */
  read() {
    const rho = Number(this.field.value);
    const isRho = this.field.validity.valid && rho >= 0 && rho < 1;
    part("rho-problem").hidden = isRho;
    write(this.field, { "aria-invalid": String(!isRho) });
    if (isRho) this.go(this.field.value === "" ? 0 : this.path.stopAt(rho), this.field.value);
  }

  /**
   * Keep the rules of a stop.
   * @param {number} stop
   * @param {string} [rho] as it was typed
   */
  go(stop, rho) {
    this.stop = stop;
    const changed = this.path.keep(this.values, stop);
    const measures = this.path.measure(this.values, stop);
    const text = rho ?? (stop === 0 ? "" : this.path.rhoAt(stop));
    if (rho === undefined) {
      this.field.value = text;
      part("rho-problem").hidden = true;
      write(this.field, { "aria-invalid": "false" });
    }
    this.slider.value = String(stop);
    const set = stop === 0 ? "all rules" : `rho ${text}, ${measures.rules} rules`;
    write(this.slider, {
      "aria-valuetext": `${set}, value error ${threeDigits(measures.error)}, policy accuracy ${threeDecimals(measures.accuracy)}`,
    });
    this.slider.style.setProperty("--done", String(stop / Math.max(this.path.nStops - 1, 1)));
    part("set").textContent = stop === 0 ? "all rules" : `ρ = ${text}`;
    this.showTiles(measures);
    this.onChange(changed);
  }

  /** @param {Measures} measures */
  showTiles(measures) {
    const { content } = this.values;
    for (const { name, number, of, dot } of this.tiles) {
      const { format, of: beside } = MEASURES[name];
      show(number, measures[name], format);
      of.textContent = beside(content, this.values);
      dot.hidden = this.path === undefined || !Number.isFinite(measures[name]);
      if (dot.hidden) continue;
      const [low, high] = this.limits[name];
      dot.style.left = `${(100 * this.stop) / Math.max(this.path.nStops - 1, 1)}%`;
      dot.style.top = `${100 * heightOf(measures[name], low, high)}%`;
    }
  }

  /** Draw each measure along the path. */
  drawLines() {
    const traced = this.path.trace(this.values.content);
    for (const { name, line } of this.tiles) {
      const series = traced.map((measures) => measures[name]);
      const [low, high] = MEASURES[name].limits(series);
      this.limits[name] = [low, high];
      const points = series.map((value, stop) => {
        const x = stop / Math.max(series.length - 1, 1);
        return Number.isFinite(value)
          ? `${x.toFixed(4)} ${heightOf(value, low, high).toFixed(3)}`
          : "";
      });
      const path = points.filter(Boolean).join("L");
      write(line, { d: path ? `M${path}` : "" });
    }
  }

  /** Write some rhos below the slider, at the stops of their sets. */
  drawMarks() {
    const last = this.path.nStops - 1;
    const marks = [{ text: "all", share: 0 }];
    for (const rho of MARKS) {
      const share = this.path.stopAt(rho) / Math.max(last, 1);
      const isFree = marks.every((mark) => Math.abs(mark.share - share) > ROOM);
      if (isFree && 1 - share > ROOM / 2) marks.push({ text: String(rho), share });
    }
    const shown = marks.map(({ text, share }) => {
      const mark = element("span", {}, text);
      mark.style.setProperty("--share", share.toFixed(4));
      return mark;
    });
    part("marks").replaceChildren(...shown);
  }
}

/**
 * How far below the top of its chart a value lies, of 1.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
function heightOf(value, low, high) {
  return high > low ? 1 - (value - low) / (high - low) : 1;
}

/**
 * Make radio buttons, the first of them on.
 * @param {string} name
 * @param {string[]} labels
 * @param {(k: number) => void} onChoice
 * @returns {HTMLElement[]}
 */
function radios(name, labels, onChoice) {
  return labels.map((label, k) => {
    const input = element("input", { type: "radio", name, checked: k === 0, value: label });
    input.addEventListener("change", () => onChoice(k));
    return element("label", {}, input, element("span", {}, label));
  });
}
