# Sourced by the programs of this folder: finds the checkout ($root) and makes its environment ($venv).
#
# The environment is kept as long as its stamp tells the same checkout, interpreter and
# pyproject.toml. The stamp is written last, so a half-made environment has none and is made anew.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$root/.venv

say() {
  printf '%s\n' "$*" >&2
}

find_python() {
  local name
  set -- python3 python3.14 python3.13 python3.12 python3.11 python
  for name in "${PYTHON:-$@}"; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s\n' "$name"
      return
    fi
  done
  say "No Python 3.11 or newer was found${PYTHON:+: PYTHON is set to $PYTHON}; set PYTHON to the one to use."
  return 1
}

# Two lines: where and by what the environment was made (when this differs it is of no use), and
# what it was made from (when this differs it only lacks something). Nothing when it cannot run.
fingerprint() {
  "$venv/bin/python" - "$root" 2>/dev/null <<'EOF'
import hashlib, pathlib, sys

root = pathlib.Path(sys.argv[1])
print(root, sys.version.replace("\n", " "))
print(hashlib.sha256((root / "pyproject.toml").read_bytes()).hexdigest())
EOF
}

# Makes $venv, or brings it up to date, with the extra $1 of pyproject.toml (dev when left out).
make_environment() {
  local extra=${1:-dev} stamp=$venv/dshstore-stamp made now python
  made=$(cat "$stamp" 2>/dev/null || true)
  now=$(fingerprint || true)
  if [ -n "$now" ] && [ "$made" = "$now" ]; then
    return
  fi
  if [ -z "$now" ] || [ "${made%%$'\n'*}" != "${now%%$'\n'*}" ]; then
    python=$(find_python) || return 1
    say "Making $venv with $("$python" --version) ..."
    rm -rf "$venv"
    if ! "$python" -m venv "$venv" >&2; then
      say "$python could not make a virtual environment (Debian has it in the package python3-venv)."
      return 1
    fi
  else
    say "Bringing $venv up to date with pyproject.toml ..."
    rm -f "$stamp"
  fi
  if ! (cd "$root" && "$venv/bin/python" -m pip install -qq --no-input -e ".[$extra]" </dev/null >&2); then
    say "dshstore could not be installed with its dependencies: pip's own words are above. Is a package index within reach?"
    return 1
  fi
  fingerprint >"$stamp"
}
