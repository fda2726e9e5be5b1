// What a reader tries out: a dot and its sentence, other thresholds, filters, and "what if". Without this script the
// report is whole; these are shown by it. All figures are the document's, or follow exactly from the model in the file.
"use strict";

if (document.getElementById("facts")) {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const model = facts.parameters && new Model(facts.parameters);
  const at = (id) => document.getElementById(id);
  const element = (name, text = "", look = "") => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (look) made.className = look;
    return made;
  };
  const minus = (text) => text.replace(/(?<![\w-])-(?=\d)/g, "−");
  const pairs = (places) => (places ? places.split(" ").map((one) => one.split(".").map(Number)) : []);
  const name = ([i, k]) => `${facts.attributes[i].name}: ${facts.attributes[i].values[k]}`;
  const named = (values) => values.map(name).join(", ");

  /** Say what disclosing x in the context y does, as the report says it of its patterns. */
  function sentence(x, y, found) {
    const whom = y.length ? `people with ${named(y)}` : "people of whom nothing else is known";
    const before = percent(found.before.toNumber()), after = percent(found.after.toNumber()), d = facts.favourable;
    const change = found.degree.n === 0n
      ? `leaves P(${d}) at ${before}`
      : `${found.degree.n > 0n ? "raises" : "lowers"} P(${d}) from ${before} to ${after}`;
    return `Disclosing ${named(x)} ${change} for ${whom}.`;
  }

  // The scatter: the nearest dot says what it stands for, by pointer, by touch, or by the keys of a slider.
  const scatter = document.querySelector("svg.scatter");
  const dots = facts.dots.map(([p, degree, x, y]) => ({ p, degree, x: pairs(x), y: pairs(y) }));
  dots.sort((a, b) => b.p - a.p || b.degree - a.degree);
  let shown = dots;
  if (scatter && dots.length) {
    const [left, right, bottom, upper, width, height] = scatter.dataset.scale.split(" ").map(Number);
    const svg = (tag) => scatter.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));
    const layer = svg("path"), ring = svg("circle");
    layer.setAttribute("class", "cloud live");
    ring.setAttribute("class", "ring");
    ring.setAttribute("r", "8");
    ring.style.display = "none";
    for (const dot of dots) {
      const exponent = dot.p > 0 ? Math.log10(dot.p) : left;
      dot.at = [(exponent - left) / (right - left) * width, (upper - dot.degree) / (upper - bottom) * height];
    }
    const choose = (dot) => {
      at("dot-number").value = String(shown.indexOf(dot) + 1);
      ring.style.display = "";
      ring.setAttribute("cx", dot.at[0]);
      ring.setAttribute("cy", dot.at[1]);
      const found = model && model.measure(facts.criterion, dot.x, dot.y);
      at("dot-says").textContent = found
        ? `${sentence(dot.x, dot.y, found)} Degree ${signed(found.degree, facts.delta)}; ${people(found.share.toNumber())} people.`
        : `Disclosing ${named(dot.x)}${dot.y.length ? ` for people with ${named(dot.y)}` : ""}: a degree of size ${rounded(dot.degree)}; ${people(dot.p)} people.`;
    };
    const nearest = (event) => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(scatter.getScreenCTM().inverse());
      let best = null, least = 20 ** 2;
      for (const dot of shown) {
        const far = (dot.at[0] - point.x) ** 2 + (dot.at[1] - point.y) ** 2;
        if (far < least) [best, least] = [dot, far];
      }
      if (best) choose(best);
    };
    scatter.addEventListener("pointermove", nearest);
    scatter.addEventListener("pointerdown", nearest);
    at("dot-number").addEventListener("input", (event) => { if (shown.length) choose(shown[event.target.value - 1]); });
    scatter.redraw = () => {
      const kept = new Set(shown);
      for (const dot of scatter.querySelectorAll(".cloud:not(.live):not(.legend)")) dot.style.opacity = kept.size < dots.length ? ".15" : "1";
      layer.setAttribute("d", kept.size < dots.length ? shown.map((dot) => `M${dot.at[0].toFixed(1)} ${dot.at[1].toFixed(1)}h0`).join("") : "");
      at("dot-number").max = String(Math.max(1, shown.length));
      at("dot-number").disabled = !shown.length;
      ring.style.display = "none";
      at("dot-says").textContent = `${grouped(shown.length)} of the ${grouped(dots.length)} patterns in the picture are shown. Point at a dot, or move the slider.`;
    };
    at("dots").hidden = false;
  }

  // Filters: what is disclosed, how severe, for how many. They hold for the dots, the tables and the heat map alike.
  const chosen = new Set();
  let least = 0, above = 0;
  function filter() {
    const names = [...chosen].map((i) => facts.attributes[i].name);
    shown = dots.filter((dot) => dot.p >= least && dot.degree > above && [...chosen].every((i) => dot.x.some(([j]) => j === i)));
    if (scatter && scatter.redraw) scatter.redraw();
    for (const table of document.querySelectorAll("table.patterns.sortable, table.listed")) {
      const share = table.classList.contains("listed") ? 4 : 6;
      for (const row of table.tBodies[0].rows) {
        const disclosed = [...row.cells[1].querySelectorAll("b")].map((found) => found.previousSibling.textContent.replace(/^, /, "").slice(0, -2));
        row.classList.toggle("left-out", !(names.every((one) => disclosed.includes(one))
          && Number(row.cells[3].dataset.sort) > above
          // Without a population there is no such column, and nobody to ask for.
          && (!least || Number(row.cells[share].dataset.sort) >= least)));
      }
    }
    for (const table of document.querySelectorAll("table.heat")) {
      // Rows and columns are the same attributes, and long names have a number and stand beside rows alone.
      const numbered = table.classList.contains("numbered"), rows = [...table.tBodies[0].rows];
      const order = rows.map((row, j) => row.cells[0].textContent.trim().slice(numbered ? String(j + 1).length + 1 : 0));
      for (const [j, row] of rows.entries()) {
        [...row.cells].forEach((cell, i) => {
          const both = [order[j], order[i - 1]];
          cell.classList.toggle("left-out", i > 0 && !names.every((one) => both.includes(one)));
        });
      }
    }
    for (const table of document.querySelectorAll("table.attributes")) {
      for (const row of table.tBodies[0].rows) {
        row.classList.toggle("left-out", names.length > 0 && !names.includes(row.cells[0].textContent.trim()));
      }
    }
  }
  if (facts.by_delta.length) {
    const slider = at("delta"), steps = facts.by_delta;
    slider.max = String(steps.length - 1);
    slider.value = String(steps.findIndex((step) => step.delta === facts.delta));
    const say = () => {
      const step = steps[slider.value], [low, high] = step.bounds;
      const number = low === high ? `${whole(low)} of` : `at least ${whole(low)}, at most ${whole(high)} of`;
      at("delta-says").textContent = `δ\u00a0=\u00a0${step.delta}: ${number} ${whole(facts.total)} are discrimination patterns`
        + `${step.delta === facts.delta ? ", as this report says" : ""}.`;
      slider.setAttribute("aria-valuetext", `δ = ${step.delta}`);
      // Every pattern here is above the report's own threshold, also one whose rounded degree is not.
      above = Number(step.delta) > Number(facts.delta) ? Number(step.delta) : 0;
    };
    slider.addEventListener("input", () => { say(); filter(); });
    say();
    at("by-delta").hidden = false;
  }
  if (facts.by_share.length > 1) {
    const slider = at("share"), steps = facts.by_share;
    slider.max = String(steps.length - 1);
    slider.value = slider.max;
    const say = () => {
      const step = steps[slider.value];
      const whom = Number(step.share) > 0 ? `at least ${Number((step.share * 100).toPrecision(9))}% of people` : "any share of people";
      at("share-says").textContent = `Patterns of ${whom}: worst degree ${minus(step.worst)}. ${minus(step.says)}`;
      slider.setAttribute("aria-valuetext", whom);
      least = Number(step.share);
    };
    slider.addEventListener("input", () => { say(); filter(); });
    say();
    at("by-share").hidden = false;
  }
  // Where there is neither chart nor table, as beside a certificate alone, there is nothing to filter.
  const filtered = scatter || document.querySelector("table.patterns.sortable, table.listed, table.heat, table.attributes");
  const boxes = filtered && at("disclosing");
  facts.attributes.forEach((attribute, i) => {
    if (!attribute.sensitive || !boxes) return;
    const label = element("label"), box = element("input");
    box.type = "checkbox";
    box.addEventListener("change", () => { box.checked ? chosen.add(i) : chosen.delete(i); filter(); });
    label.append(box, ` ${attribute.name}`);
    boxes.append(label);
    boxes.hidden = false;
  });

  // What if: what is known of a person, and what of it is disclosed only then.
  if (model) {
    const form = at("what-if-values"), choices = [];
    facts.attributes.forEach((attribute, i) => {
      const line = element("div", "", "choice"), label = element("label", attribute.name), select = element("select");
      select.id = `what-if-${i}`;
      label.htmlFor = select.id;
      select.append(new Option("not known", ""), ...attribute.values.map((value, k) => new Option(value, k)));
      line.append(label, select);
      let box = null;
      if (attribute.sensitive) {
        const disclosed = element("label", "", "disclosed");
        box = element("input");
        box.type = "checkbox";
        box.checked = true;
        disclosed.append(box, " disclosed");
        box.setAttribute("aria-label", `${attribute.name} is disclosed`);
        line.append(disclosed);
        box.addEventListener("change", work);
      }
      select.addEventListener("change", work);
      choices.push({ select, box });
      form.append(line);
    });
    const worst = facts.worst;
    if (worst) {
      for (const [side, disclosed] of [[worst.context_values, false], [worst.sensitive_values, true]]) {
        for (const [attribute, value] of Object.entries(side)) {
          const i = facts.attributes.findIndex((one) => one.name === attribute);
          choices[i].select.value = String(facts.attributes[i].values.indexOf(value));
          if (choices[i].box) choices[i].box.checked = disclosed;
        }
      }
    }
    at("what-if").hidden = false;
    work();
    function work() {
      const x = [], y = [];
      choices.forEach(({ select, box }, i) => {
        if (select.value !== "") (box && box.checked ? x : y).push([i, Number(select.value)]);
      });
      const says = at("what-if-says"), body = at("what-if-odds").tBodies[0];
      body.replaceChildren();
      at("what-if-odds").hidden = true;
      if (!x.length) { says.textContent = "Choose at least one sensitive value that is disclosed."; return; }
      const found = model.measure(facts.criterion, x, y);
      if (!found) { says.textContent = "By this model nobody has all of these values."; return; }
      const limit = Fraction.of(facts.delta), is = found.degree.size().compare(limit) > 0;
      const few = facts.min_probability !== null && found.share.compare(Fraction.of(facts.min_probability)) < 0;
      says.textContent = `${sentence(x, y, found)} Degree ${signed(found.degree, facts.delta)}, `
        + `${is ? "above" : "not above"} δ\u00a0=\u00a0${facts.delta}; ${people(found.share.toNumber())} people`
        + `${few ? `, so few that the verdict does not consider them: the probability is below ${facts.min_probability}` : ""}.`;
      says.dataset.degree = found.degree.toString();
      let [u, v] = model.joint([]);
      const odds = () => (v.n === 0n ? "infinite" : rounded(u.over(v).toNumber()));
      const row = (first, ...numbers) => {
        const made = body.insertRow();
        const head = made.appendChild(element("th"));
        head.scope = "row";
        head.textContent = first;
        for (const number of numbers) {
          const cell = made.insertCell();
          cell.className = "num";
          cell.textContent = number;
        }
        return made;
      };
      row("Nothing", "", "", odds());
      const step = (value) => {
        const [i, k] = value, attribute = model.attributes[i], a = attribute.favourable[k], b = attribute.unfavourable[k];
        [u, v] = [u.times(a), v.times(b)];
        row(name(value), percent(a.toNumber()), percent(b.toNumber()), odds());
      };
      const turn = (text) => {
        const made = row(text);
        made.className = "turn";
        made.cells[0].colSpan = 4;
      };
      y.forEach(step);
      turn(`The context is known: P(${facts.favourable}) = ${percent(found.before.toNumber())}`);
      x.forEach(step);
      turn(`All is known: P(${facts.favourable}) = ${percent(found.after.toNumber())}`);
      asCards(body.parentElement);
      at("what-if-odds").hidden = false;
    }
  }
  // Beside the certificate of a scorecard alone there is nothing to try.
  if (facts.by_delta.length || facts.by_share.length > 1 || filtered || model) {
    at("explore").hidden = false;
    const contents = document.querySelector(".contents ul"), entry = element("li"), link = element("a", "Explore");
    link.href = "#explore";
    entry.append(link);
    if (contents) contents.firstElementChild.after(entry);
  }
  filter();
}
