#!/bin/sh
# Our TOML parser and Python's agree: on every value of tests/data/toml/valid, and that every file of
# tests/data/toml/invalid is wrong.
#
#     toml.sh COMMAND SOURCE-DIR BUILD-DIR
set -eu

python3 -c 'import tomllib' 2>/dev/null || exit 77
program=$3/tests/test_toml
[ -x "$program" ] || exit 77

exec python3 - "$program" "$2/tests/data/toml" <<'EOF'
import json, math, pathlib, subprocess, sys, tomllib

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
failures = 0


def fail(path, why):
    global failures
    failures += 1
    print(f"toml.sh: {path}: {why}", file=sys.stderr)


def plain(value):
    """What JSON can hold: inf and nan become strings, as eg_toml_to_json writes them."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def ours(paths):
    """One line for each file: JSON, or "! " and a message."""
    run = subprocess.run([program, "--json", *map(str, paths)], capture_output=True, check=True)
    lines = run.stdout.decode("utf-8").split("\n")[:-1]
    if len(lines) != len(paths):
        sys.exit(f"toml.sh: {len(lines)} lines for {len(paths)} files")
    return lines


valid, invalid = sorted(folder.glob("valid/*.toml")), sorted(folder.glob("invalid/*.toml"))
if len(valid) < 20 or len(invalid) < 100:
    sys.exit(f"toml.sh: too few files in {folder}")

for path, line in zip(valid, ours(valid)):
    with open(path, "rb") as file:
        expected = plain(tomllib.load(file))
    if line.startswith("!"):
        fail(path, f"refused: {line}")
    # Text is compared, so that 1, 1.0 and true differ, and -0.0 from 0.0.
    elif json.dumps(json.loads(line), sort_keys=True) != json.dumps(expected, sort_keys=True):
        fail(path, f"{line} differs from {json.dumps(expected)}")

for path, line in zip(invalid, ours(invalid)):
    try:
        with open(path, "rb") as file:
            tomllib.load(file)
        fail(path, "Python accepts it")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        pass
    if not line.startswith("! "):
        fail(path, f"accepted: {line}")
    elif not line.startswith(f"! {path}:") or ": error: " not in line:
        fail(path, f"the message has no place: {line}")

sys.exit(failures != 0)
EOF
