#!/bin/sh
# From data to a certificate, and on to the next year's model:
#
#     PATH="$PWD/.venv/bin:$PATH" sh examples/tour/tour.sh FOLDER
#
# from the top of a checkout after `make test` or `make demo`, or without the first part where `auditor` is
# installed. FOLDER is made, and holds all that the tour makes; nobody in its data exists. What it prints is in
# output.txt.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?name a folder that is not there yet}
mkdir "$folder"
cd "$folder"
unset AUDITOR_KEY_PASSPHRASE

say() {
    printf '\n%s\n' "# $1"
    shift
    for line in "$@"; do printf '%s\n' "# $line"; done
}

# Show a command, run it, and stop unless it ends with the code that is expected.
run() {
    expected=$1
    shift
    printf '\n$ auditor'
    for word in "$@"; do
        case $word in *' '*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
    code=0
    auditor "$@" 2>&1 || code=$?
    [ "$code" -eq 0 ] || printf '(exit code %s)\n' "$code"
    [ "$code" -eq "$expected" ] || exit 70
}

# Applications at an invented bank. No command of auditor needs this step.
for year in 2024 2025; do
    "${PYTHON:-python3}" "$here/applications.py" $year >$year.csv
done
mkdir certificates

say '1. Learn a model from data: who was granted a loan in 2024?' \
    'Gender and age are to be protected; age is cut at 30 and 50.'
run 0 learn 2024.csv --decision granted --favourable yes --sensitive gender,age --bins age=30,50 \
    -o model-2024.json

say '2. Audit it: does disclosing gender or age change the answer by more than 0.1,' \
    'whatever else is known? Exit code 1 says that it does.'
run 1 audit model-2024.json --delta 0.1 --top 3

say '3. Repair it: the most likely model of the same counts that is fair in this sense.'
run 0 repair model-2024.json --delta 0.1 --data 2024.csv -o fair-2024.json

say '4. Certify it, with a signature that others can check.' \
    'Anybody who has the certificate and the public key can compute its answer again.'
run 0 keygen --no-passphrase key.pem
run 0 certify fair-2024.json --delta 0.1 --issuer 'Example Bank' --responsible 'A. Smith' \
    --issued 2025-01-15 --key key.pem -o certificates/2024.json
run 0 verify certificates/2024.json --public-key key.pub.pem --model fair-2024.json --at 2025-02-01

say '5. Report it to people.'
run 0 report certificates/2024.json -o report-2024.html

say '6. A year later, train again. The new model is not what the certificate is about:' \
    'certified under the same policy, it fails.'
run 0 learn 2025.csv --decision granted --favourable yes --sensitive gender,age --bins age=30,50 \
    -o model-2025.json
run 1 recertify certificates/2024.json model-2025.json --issued 2026-01-15 --key key.pem \
    --public-key key.pub.pem -o not-fair-2025.json

say '7. Repaired, it passes, and its certificate supersedes the old one.'
run 0 repair model-2025.json --delta 0.1 -o fair-2025.json
run 0 recertify certificates/2024.json fair-2025.json --issued 2026-01-15 --key key.pem \
    --public-key key.pub.pem -o certificates/2025.json
run 0 verify --chain certificates --public-key key.pub.pem --at 2026-02-01
run 0 report certificates/2025.json --since certificates/2024.json -o report-2025.html

say '8. Banks decide by scorecards. One of German credit, as optbinning writes it: its points are' \
    'audited, repaired and certified like the model above.'
cp "$here/../german_scorecard.csv" .
run 0 import german_scorecard.csv --intercept=-0.8418148234251006 --sensitive sex_status,age -o card.yaml
run 1 audit card.yaml --delta 0.1 --top 2 --cutoff 0.6
run 0 repair card.yaml --delta 0.1 -o fair-card.yaml
run 0 certify fair-card.yaml --delta 0.1 --issued 2026-01-15 --key key.pem -o card-2026.json
run 0 verify card-2026.json --public-key key.pub.pem --model fair-card.yaml --at 2026-02-01
