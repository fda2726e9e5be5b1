// Shows on a certificate's page how its proof goes, and takes the issuer's public key.
"use strict";

if (document.getElementById("certificate-file")) {
  const file = document.getElementById("certificate-file").textContent;
  const body = document.getElementById("proof-checks").tBodies[0], says = document.getElementById("proof-says");
  const rows = new Map(), words = new Map([[true, "✓ holds"], [false, "✗ DOES NOT HOLD"], [null, "not checked"]]);
  const looks = new Map([[true, "holds"], [false, "fails"], [null, "open"]]);
  let run = 0, working = null;
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
  /** Prove in a worker, so that the page never waits; where there is none, in the page, in slices. */
  function inWorker(options, { say, progress }) {
    if (working) working.terminate();
    return new Promise((resolve) => {
      const here = () => resolve(proved(file, { ...options, say, progress }));
      try {
        const listening = "onmessage = async ({ data: [text, options] }) => { const tell = (what) => (...told) => postMessage([what, ...told]);"
          + " await proved(text, { ...options, say: tell('say'), progress: tell('progress') }); postMessage(['end']); };";
        const address = URL.createObjectURL(new Blob([document.getElementById("prover").textContent, listening]));
        working = new Worker(address);
        URL.revokeObjectURL(address);
        working.onerror = (event) => { event.preventDefault(); working.terminate(); here(); };
        working.onmessage = ({ data: [what, ...told] }) => {
          if (what === "end") resolve();
          else ({ say, progress })[what](...told);
        };
        working.postMessage([file, options]);
      } catch (error) {
        here();
      }
    });
  }
  async function prove(key) {
    const mine = ++run, outcomes = new Map(), began = performance.now();
    says.className = "formula";
    says.textContent = "Checking …";
    row("Form");
    await inWorker({
      key,
      today: new Date().toISOString().slice(0, 10),
    }, {
      say: (name, holds, seen) => {
        if (mine !== run) return;
        const [made, outcome, what] = row(name);
        made.className = looks.get(holds);
        outcome.textContent = words.get(holds);
        what.textContent = seen;
        asCards(body.parentElement);
        outcomes.set(name, holds);
      },
      progress: (name, part) => {
        if (mine !== run) return;
        const [made, outcome] = row(name);
        made.className = "open";
        outcome.textContent = `${Math.floor(100 * part)}%, ${Math.round((performance.now() - began) / 1000)} s`;
        asCards(body.parentElement);
      },
    });
    if (mine !== run) return;
    const wrong = [...outcomes].filter(([, holds]) => holds === false).map(([name]) => name);
    const open = [...outcomes].filter(([, holds]) => holds === null).map(([name]) => name);
    says.className = `formula ${wrong.length ? "fails" : open.length ? "open" : "holds"}`;
    says.textContent = wrong.length
      ? `DOES NOT HOLD: ${wrong.join(", ")}. Don’t rely on it.`
      : open.length ? `What was checked holds. Not checked: ${open.join("; ")}.` : "All of it was checked, and holds.";
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
