from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image


def superlevel(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "superlevel", *arguments], capture_output=True, text=True, check=False, timeout=120
    )


def test_help_teaches_and_imports_nothing_slow() -> None:
    code = "import sys, superlevel.cli; print(sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert not any(f"'{slow}'" in loaded for slow in ("scipy", "sklearn", "matplotlib", "pandas"))
    shown = superlevel("demo", "--help").stdout
    assert "Example: superlevel demo" in shown
    assert "--ridge" in shown


def test_demo_writes_a_picture_and_shows_its_certificates(tmp_path: Path) -> None:
    picture = tmp_path / "new folder" / "demo.png"
    ran = superlevel("demo", "--out", str(picture), "--rtol", "0.01", "--ridge", "0.1")
    assert ran.returncode == 0, ran.stderr
    assert "lower bound" in ran.stdout
    with Image.open(picture) as image:
        assert image.width > image.height > 300
        assert np.asarray(image.convert("L")).std() > 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--ridge", "-1"], "ridge is -1.0: give a number > 0"),
        (["--rtol", "0"], "rtol is 0.0: give a number > 0"),
        (["--out", "picture.gif"], "--out is 'picture.gif': end it in .png, .pdf or .svg"),
        (
            ["--out", "/dev/null/picture.png"],
            "--out is '/dev/null/picture.png': its folder cannot be made (File exists)",
        ),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(arguments: list[str], sentence: str) -> None:
    ran = superlevel("demo", *arguments)
    assert ran.returncode == 2
    assert ran.stderr == f"superlevel: {sentence}\n"
    assert ran.stdout == ""
