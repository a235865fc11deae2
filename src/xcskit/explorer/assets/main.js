// The page: content, map, rules and controls put together.

const content = readContent(part("content").textContent ?? "");
const values = new Values(content);

/** @param {number} state */
const choose = (state) => panel.show(state);
const map =
  content.layout === null
    ? new ListMap(part("map"), values, choose)
    : new GridMap(part("map"), values, content.layout, choose);
const panel = new RulePanel(part("rules"), map, (rule) =>
  map.cover(rule === null ? null : statesOf(values, rule)),
);

/** Explain the marks that there are. */
function drawKeys() {
  for (const kind of ["wrong", "hole"])
    part(`${kind}-key`).hidden = !map.root.querySelector(`.${kind}`);
}

/** Say what the colours stand for. */
function drawLegend() {
  const [low, high] = map.scale;
  part("legend-low").textContent = map.format(low);
  part("legend-high").textContent = (map.view.isError ? "≥ " : "") + map.format(high);
  part("legend-text").textContent = map.view.legend;
}

const views = Object.values(VIEWS);
const buttons = radios(
  "view",
  views.map(({ label }) => label),
  (k) => {
    map.colourBy(views[k]);
    drawLegend();
    drawKeys();
  },
);
part("views").append(...buttons);
if (map instanceof ListMap) part("map").before(map.filters());

map.colourBy(VIEWS.learned);
drawLegend();
map.select(content.start);
panel.show(content.start);
drawKeys();
new Controls(values, (changed) => {
  map.refresh(changed);
  panel.refresh();
  drawKeys();
});
part("about").textContent =
  `${whole(values.nRules)} rules for ${content.counted.length} states and ` +
  `${values.nActions} actions, beside the optimum for γ = ${content.gamma}`;
