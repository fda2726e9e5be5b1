// Tables sort by a click on a heading, are filtered by a word, and are cards on a phone. Without this script they are
// plain tables.
"use strict";
// Laid out as cards, a table is one to a screen reader all the same. Other scripts call this for those they fill.
function asCards(table) {
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  table.classList.add("cards");
  table.setAttribute("role", "table");
  for (const part of [table.tHead, table.tBodies[0]]) part.setAttribute("role", "rowgroup");
  for (const row of table.rows) {
    row.setAttribute("role", "row");
    [...row.cells].forEach((cell, i) => {
      const heading = cell.closest("thead");
      cell.setAttribute("role", cell.tagName === "TD" ? "cell" : heading ? "columnheader" : "rowheader");
      if (heading) return;
      cell.classList.toggle("void", !cell.textContent.trim());
      if (cell.tagName === "TD" && cell.colSpan === 1 && heads[i] !== "#") cell.dataset.label = heads[i];
    });
  }
}
// A heat map is read along both its headings, and stays as it is.
for (const table of document.querySelectorAll(".wide > table:not(.heat)")) asCards(table);
// On a phone a long list is its first rows until the others are asked for; the steps of a calculation belong together.
for (const table of document.querySelectorAll(".wide > .cards:not(.odds)")) {
  if (table.tBodies[0].rows.length < 7) continue;
  const more = document.createElement("button");
  more.type = "button";
  more.className = "more";
  more.textContent = `Show all ${table.tBodies[0].rows.length} rows`;
  more.addEventListener("click", () => {
    table.classList.remove("short");
    // Where the others begin the reader goes on.
    const next = table.tBodies[0].rows[4];
    next.tabIndex = -1;
    next.focus();
  });
  table.classList.add("short");
  table.after(more);
}

for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const key = (row, column) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
  const compare = (a, b) => (a - b) || a.localeCompare(b);
  table.tHead.querySelectorAll("th").forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.querySelectorAll("th")) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => compare(key(a, column), key(b, column)));
      body.append(...(down ? rows.reverse() : rows));
    });
  });
  if (body.rows.length < 5) continue;
  const tools = document.createElement("p");
  tools.className = "tools";
  const label = document.createElement("label");
  const input = document.createElement("input");
  input.type = "search";
  label.append("Show only rows with ", input);
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  tools.append(label, said);
  table.before(tools);
  input.addEventListener("input", () => {
    table.classList.remove("short");
    const wanted = input.value.trim().toLowerCase();
    let left = 0;
    for (const row of body.rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      left += !row.hidden;
    }
    said.textContent = wanted ? `${left} of ${body.rows.length} rows` : "";
  });
}
