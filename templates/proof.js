// Shows on a certificate's page how its proof goes, and takes the issuer's public key.
"use strict";

if (document.getElementById("certificate-file")) {
  const file = document.getElementById("certificate-file").textContent;
  const body = document.getElementById("proof-checks").tBodies[0], says = document.getElementById("proof-says");
  const rows = new Map(), words = new Map([[true, "✓ holds"], [false, "✗ DOES NOT HOLD"], [null, "not checked"]]);
  const looks = new Map([[true, "holds"], [false, "fails"], [null, "open"]]);
  let run = 0;
  const row = (name) => {
    if (!rows.has(name)) {
      const made = body.insertRow(), head = document.createElement("th");
      head.scope = "row";
      head.textContent = name;
      made.append(head);
      rows.set(name, [made, made.insertCell(), made.insertCell()]);
    }
    return rows.get(name);
  };
  async function prove(key) {
    const mine = ++run, outcomes = [], began = performance.now();
    says.className = "formula";
    says.textContent = "Checking …";
    await proved(file, {
      key,
      today: new Date().toISOString().slice(0, 10),
      say: (name, holds, seen) => {
        if (mine !== run) return;
        const [made, outcome, what] = row(name);
        made.className = looks.get(holds);
        outcome.textContent = words.get(holds);
        what.textContent = seen;
        outcomes.push([name, holds]);
      },
      progress: (name, part) => {
        if (mine !== run) return;
        const [made, outcome] = row(name);
        made.className = "open";
        outcome.textContent = `${Math.floor(100 * part)}%, ${Math.round((performance.now() - began) / 1000)} s`;
      },
    });
    if (mine !== run) return;
    const wrong = outcomes.filter(([, holds]) => holds === false).map(([name]) => name);
    const open = outcomes.filter(([, holds]) => holds === null).map(([name]) => name);
    says.className = `formula ${wrong.length ? "fails" : open.length ? "open" : "holds"}`;
    says.textContent = wrong.length
      ? `DOES NOT HOLD: ${wrong.join(", ")}. Don’t rely on this certificate.`
      : `What was checked holds.${open.length ? ` Not checked: ${open.join("; ")}.` : ""}`;
  }
  const text = document.getElementById("proof-key"), chosen = document.getElementById("proof-file");
  const area = document.getElementById("proof-signer");
  const take = async (one) => {
    if (!one || one.size > 65536) return;
    text.value = await one.text();
    prove(text.value);
  };
  text.addEventListener("input", () => prove(text.value));
  chosen.addEventListener("change", () => take(chosen.files[0]));
  area.addEventListener("dragover", (event) => event.preventDefault());
  area.addEventListener("drop", (event) => { event.preventDefault(); take(event.dataTransfer.files[0]); });
  document.getElementById("proof").hidden = false;
  prove("");
}
