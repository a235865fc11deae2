// Elements, and numbers and states as text.

const SVG = "http://www.w3.org/2000/svg";
const NOTHING = "–";

/**
 * Make an element. Texts enter as texts: nothing is ever parsed as markup.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number | boolean>} [attributes] true for a bare one, false for none
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  write(made, attributes);
  made.append(...children);
  return made;
}

/**
 * Make an element of a drawing.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number | boolean>} [attributes]
 * @param {...Node} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
function drawing(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  write(made, attributes);
  made.append(...children);
  return made;
}

/**
 * Write attributes, those that change only.
 * @param {Element} target
 * @param {Record<string, string | number | boolean>} attributes
 */
function write(target, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false) target.removeAttribute(name);
    else {
      const text = value === true ? "" : String(value);
      if (target.getAttribute(name) !== text) target.setAttribute(name, text);
    }
  }
}

/**
 * Find what stands in the page's own markup.
 * @param {string} id
 * @returns {HTMLElement}
 */
function part(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no part ${id}`);
  return found;
}

/**
 * Put a number into an element: some digits to be read, all of them as its value and its tip.
 * @param {HTMLDataElement} target
 * @param {number} value
 * @param {(value: number) => string} format
 */
function show(target, value, format) {
  const digits = String(value);
  if (target.value === digits) return;
  target.value = digits;
  target.title = digits;
  target.textContent = format(value);
}

/** @param {number} value */
function whole(value) {
  return Number.isNaN(value) ? NOTHING : value.toLocaleString("en");
}

/** @param {number} value */
function threeDigits(value) {
  if (Number.isNaN(value)) return NOTHING;
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  return Math.abs(value) < 5e-7 ? "0" : String(Number(value.toPrecision(3)));
}

/** @param {number} value */
function threeDecimals(value) {
  return Number.isNaN(value) ? NOTHING : value.toFixed(3);
}

/**
 * Choose decimals that suit numbers spread over a range.
 * @param {number} range
 * @returns {(value: number) => string}
 */
function decimalsFor(range) {
  const decimals = Math.min(Math.max(2 - Math.round(Math.log10(range || 1)), 0), 6);
  return (value) => (Number.isNaN(value) ? NOTHING : value.toFixed(decimals));
}

/**
 * Name a state by what is seen there.
 * @param {Content} content
 * @param {number} state
 */
function nameOf({ observations, dimension_names }, state) {
  const begin = state * dimension_names.length;
  const seen = dimension_names.map((name, d) => `${name}=${observations[begin + d]}`);
  return `(${seen.join(", ")})`;
}

/**
 * Name actions.
 * @param {Content} content
 * @param {number[]} actions
 */
function namesOf({ action_names }, actions) {
  return actions.map((a) => action_names[a]).join(" or ");
}
