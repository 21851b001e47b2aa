"""The command: streams, exit codes, files, and inputs that are no templates."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from transpiler.cli import main
from transpiler.cli.streams import FORMATS as _FORMATS
from transpiler.explain import REGISTRY
from transpiler.rendering import FORMATS

GOOD = "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}"
OURS = "{#- Converted from chat.gotmpl by gotmpl2jinja. -#}\n"


def run(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    """Run the command; whatever it does, it leaves no traceback."""
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin, prog_name="gotmpl2jinja")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.gotmpl"
    path.write_text(GOOD, encoding="utf-8")
    return path


class TestConvert:
    def test_the_result_goes_to_stdout(self, chat: Path) -> None:
        result = run("convert", chat)
        assert result.exit_code == 0
        assert result.stdout.startswith(OURS)
        assert result.stderr == ""

    def test_the_standard_input(self) -> None:
        result = run("convert", "-", stdin=GOOD.encode())
        assert result.exit_code == 0
        assert "<|" in result.stdout

    def test_warnings_go_to_stderr_and_are_no_failure(self) -> None:
        result = run("convert", "-", stdin=b"{{ range .Tools }}{{ .Function }}{{ end }}" + GOOD.encode())
        assert result.exit_code == 0
        assert "warning[GT402]" in result.stderr
        assert "GT402]:" not in result.stdout

    def test_a_modelfile_is_told_by_its_content(self, tmp_path: Path) -> None:
        path = tmp_path / "Modelfile"
        path.write_text(f'FROM llama3\nTEMPLATE """{GOOD}"""\n', encoding="utf-8")
        assert "FROM" not in run("convert", path).stdout
        assert "FROM" in run("convert", path, "--kind", "template").stdout

    def test_a_template_that_is_no_modelfile(self, chat: Path) -> None:
        assert "[GT151]" in run("convert", chat, "--kind", "modelfile").stderr

    def test_exact_keeps_what_is_there(self) -> None:
        template = b"{{ range .Tools }}{{ .Function }}{{ end }}" + GOOD.encode()
        assert run("convert", "-", stdin=template).stdout != run("convert", "-", "--exact", stdin=template).stdout

    def test_native_json(self) -> None:
        template = b"{{ range .Tools }}{{ json .Function }}{{ end }}" + GOOD.encode()
        assert "tojson" in run("convert", "-", "--json", "native", stdin=template).stdout

    def test_fill_in_the_middle(self) -> None:
        template = b"{{ if .Suffix }}<pre>{{ .Prompt }}<suf>{{ .Suffix }}<mid>{{ else }}{{ .Prompt }}{{ end }}"
        result = run("convert", "-", "--mode", "fim", stdin=template)
        assert result.exit_code == 0
        assert "suffix" in result.stdout

    def test_a_template_without_fill_in_the_middle(self, chat: Path) -> None:
        result = run("convert", chat, "--mode", "fim")
        assert (result.exit_code, result.stdout) == (1, "")
        assert "error[GT911]" in result.stderr

    def test_the_two_forms_of_a_template_have_files_of_their_own(self, tmp_path: Path) -> None:
        path = tmp_path / "code.tmpl"
        path.write_text("{{ if .Suffix }}<p>{{ .Suffix }}{{ else }}{{ .Prompt }}{{ end }}", encoding="utf-8")
        chat = run("convert", path, "-o", f"{tmp_path}/")
        assert (chat.exit_code, chat.stdout) == (0, "")
        assert "note[GT910]" in chat.stderr
        assert (run("convert", path, "-o", f"{tmp_path}/", "--mode", "fim").stderr) == ""
        assert sorted(it.name for it in tmp_path.iterdir()) == ["code.fim.jinja", "code.jinja", "code.tmpl"]

    def test_json_diagnostics(self) -> None:
        result = run("convert", "-", "--format", "json", stdin=b"{{ nope }}\n{{ nope }}")
        assert [json.loads(line)["line"] for line in result.stderr.splitlines()] == [1, 2]


class TestFiles:
    def test_one_file(self, chat: Path, tmp_path: Path) -> None:
        target = tmp_path / "out.jinja"
        result = run("convert", chat, "-o", target)
        assert (result.exit_code, result.stdout) == (0, "")
        assert target.read_text(encoding="utf-8").startswith(OURS)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["chat.gotmpl", "out.jinja"]

    def test_an_empty_name(self, chat: Path) -> None:
        assert run("convert", chat, "-o", "").exit_code == 2

    def test_a_file_where_a_folder_should_be(self, chat: Path, tmp_path: Path) -> None:
        (tmp_path / "out.jinja").write_text("mine", encoding="utf-8")
        result = run("convert", chat, "-o", f"{tmp_path}/out.jinja/")
        assert result.exit_code == 2
        assert "Not a directory" in result.stderr

    def test_a_folder_is_made(self, chat: Path, tmp_path: Path) -> None:
        other = tmp_path / "other.gotmpl"
        other.write_text(GOOD, encoding="utf-8")
        assert run("convert", chat, other, "-o", f"{tmp_path}/new/").exit_code == 0
        assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["chat.jinja", "other.jinja"]

    def test_several_need_a_folder(self, chat: Path, tmp_path: Path) -> None:
        result = run("convert", chat, chat, "-o", tmp_path / "out.jinja")
        assert result.exit_code == 2
        assert "several sources" in result.stderr

    def test_two_results_of_one_name(self, chat: Path, tmp_path: Path) -> None:
        assert run("convert", chat, chat, "-o", f"{tmp_path}/").exit_code == 2

    def test_one_bad_of_several(self, chat: Path, tmp_path: Path) -> None:
        bad = tmp_path / "bad.gotmpl"
        bad.write_text("{{ if }}", encoding="utf-8")
        assert run("convert", bad, chat, "-o", f"{tmp_path}/new/").exit_code == 1
        assert [path.name for path in (tmp_path / "new").iterdir()] == ["chat.jinja"]

    def test_a_foreign_file_is_kept(self, chat: Path, tmp_path: Path) -> None:
        target = tmp_path / "out.jinja"
        target.write_text("mine", encoding="utf-8")
        result = run("convert", chat, "-o", target)
        assert result.exit_code == 2
        assert "--force" in result.stderr
        assert target.read_text(encoding="utf-8") == "mine"
        assert run("convert", chat, "-o", target, "--force").exit_code == 0
        assert target.read_text(encoding="utf-8").startswith(OURS)

    def test_our_file_is_replaced_and_keeps_its_permissions(self, chat: Path, tmp_path: Path) -> None:
        target = tmp_path / "out.jinja"
        run("convert", chat, "-o", target)
        target.chmod(0o640)
        chat.write_text(GOOD + "!", encoding="utf-8")
        assert run("convert", chat, "-o", target).exit_code == 0
        assert "!" in target.read_text(encoding="utf-8")
        assert stat.S_IMODE(target.stat().st_mode) == 0o640

    def test_a_failed_write_leaves_nothing(self, chat: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(_: int) -> None:
            raise OSError(28, os.strerror(28))

        monkeypatch.setattr("os.fsync", fail)
        result = run("convert", chat, "-o", tmp_path / "out.jinja")
        assert result.exit_code == 2
        assert os.strerror(28) in result.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["chat.gotmpl"]

    def test_a_source_is_never_written_over(self, chat: Path, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(chat)
        for target in (chat, tmp_path / "link"):
            result = run("convert", chat, "-o", target, "--force")
            assert result.exit_code == 2
            assert "is a source" in result.stderr
        assert chat.read_text(encoding="utf-8") == GOOD

    def test_where_one_source_is_missing_nothing_is_written(self, chat: Path, tmp_path: Path) -> None:
        assert run("convert", chat, tmp_path / "missing", "-o", f"{tmp_path}/new/").exit_code == 2
        assert not (tmp_path / "new").exists()

    @pytest.mark.parametrize("name", ["missing.gotmpl", "."])
    def test_what_cannot_be_read_is_one_line(self, name: str, tmp_path: Path) -> None:
        result = run("convert", tmp_path / name)
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1


BAD = {
    "empty": (b"", "1:1: error[GT905]"),
    "binary": (b"GGUF\0\1\2", "1:5: error[GT904]"),
    "invalid UTF-8": (b"abc\n\xff{{ .X }}", "2:1: error[GT903] invalid UTF-8 at byte offset 4"),
    "5 MiB": (b"x" * (5 << 20), "1:1: error[GT901]"),
    "200 nested ifs": (b"{{ if . }}" * 200 + b"{{ end }}" * 200, ": error[GT902]"),
    "unclosed action": (b"{{ range .Messages }}{{ .Content", "1:22: error[GT102]"),
    "unclosed string": (b'{{ range .Messages }}{{ "x }}{{ end }}', "1:25: error[GT102]"),
    "unknown function": (b"{{ range .Messages }}{{ nope .Content }}{{ end }}", "1:25: error[GT104]"),
    "undefined template": (b'{{ range .Messages }}{{ template "x" . }}{{ end }}', "1:22: error[GT201]"),
    "unclosed Modelfile": (b'FROM x\nTEMPLATE """{{ .Prompt }}', "2:10: error[GT153]"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_refused_with_its_place(kind: str, tmp_path: Path) -> None:
    data, expected = BAD[kind]
    source = tmp_path / "bad.gotmpl"
    source.write_bytes(data)
    result = run("convert", source, "--format", "concise", "-o", tmp_path / "out.jinja")
    assert result.exit_code == 1
    assert expected in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.gotmpl"]
    full = run("convert", source)
    assert full.exit_code == 1
    assert full.stdout == ""


def test_a_field_that_a_message_has_not_got(tmp_path: Path) -> None:
    """Ollama stops when it gets there, and so does the emitted template."""
    result = run("convert", "-", "--format", "concise", stdin=b"{{ range .Messages }}{{ .Nope }}{{ end }}")
    assert "<stdin>:1:25: " in result.stderr
    assert "[GT202]" in result.stderr


class TestExplain:
    @pytest.mark.parametrize("code", REGISTRY)
    def test_every_code(self, code: str) -> None:
        result = run("explain", code.lower())
        assert result.exit_code == 0
        assert result.stdout.startswith(f"{code}: ")
        explanation, _, example = result.stdout.partition("\nFor example:\n\n")
        assert max(map(len, explanation.splitlines())) <= 100
        assert f"[{code}]: " in example or code in {"GT901", "GT903", "GT911"}

    def test_all(self) -> None:
        assert all(code in run("explain").stdout for code in REGISTRY)

    def test_an_unknown_code(self) -> None:
        result = run("explain", "GT41")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "GT401" in result.stderr
        assert len(result.stderr.splitlines()) == 1


PROGRAM = (sys.executable, "-c", "from transpiler.cli import main; main(prog_name='gotmpl2jinja')")


def surroundings(**more: str) -> dict[str, str]:
    """The environment of a process as users start it: it finds the library, may use colours, shows no warnings of
    Python (an interrupt may leave a file to be closed by its end)."""
    usual = {"PYTHONPATH": str(Path(__file__).parents[1]), "NO_COLOR": "", "PYTHONWARNINGS": "", "PYTHONUNBUFFERED": ""}
    return {**os.environ, **usual, **more}


def start(*arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*PROGRAM, *arguments],
        cwd=cwd,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=surroundings(),
        # A shell that runs the tests in the background has them ignore interrupts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def shell(line: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of shell, in which `"$@"` are the arguments."""
    return subprocess.run(
        ["sh", "-c", line, "sh", *arguments], cwd=cwd, capture_output=True, env=surroundings(), text=True, check=False
    )


class TestProcess:
    """What only a process of its own shows."""

    def test_bytes_go_through_as_they_are(self, tmp_path: Path) -> None:
        with start("convert", "-", cwd=tmp_path) as process:
            out, err = process.communicate("é｜\r\n".encode() + GOOD.encode(), timeout=60)
        assert (process.returncode, err) == (0, b"")
        assert out.startswith(OURS.replace("chat.gotmpl", "<stdin>").encode())
        assert "é｜".encode() in out

    def test_a_reader_that_stops_reading(self, tmp_path: Path) -> None:
        (tmp_path / "long.gotmpl").write_text("x" * 1_000_000 + GOOD, encoding="utf-8")
        with start("convert", "long.gotmpl", cwd=tmp_path) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""

    @pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")
    def test_ctrl_c(self, tmp_path: Path) -> None:
        fifo = tmp_path / "fifo"
        os.mkfifo(fifo)
        with start("convert", "fifo", cwd=tmp_path) as process:
            with fifo.open("wb"):  # opened on both sides: the command is running
                process.send_signal(signal.SIGINT)
                assert process.stderr is not None
                assert process.wait(timeout=60) == 130
            assert process.stderr.read() == b""

    @pytest.mark.parametrize("arguments", [("convert", "chat.gotmpl"), ("--help",), ("explain",)], ids=lambda a: a[0])
    @pytest.mark.parametrize("stdout", ["/dev/full", "&-"], ids=["full", "closed"])
    def test_the_standard_output_can_not_be_written_to(
        self, arguments: tuple[str, ...], stdout: str, chat: Path
    ) -> None:
        done = shell(f'"$@" >{stdout}', *PROGRAM, *arguments, cwd=chat.parent)
        assert done.returncode == 2
        assert done.stderr.startswith("Error: standard output: ")
        assert len(done.stderr.splitlines()) == 1

    def test_the_standard_input_is_closed(self, tmp_path: Path) -> None:
        done = shell('"$@" <&-', *PROGRAM, "convert", "-", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "Error: -: the standard input is closed\n"

    @pytest.mark.parametrize("stderr", ["/dev/full", "&-"], ids=["full", "closed"])
    def test_the_standard_error_can_not_be_written_to(self, stderr: str, tmp_path: Path) -> None:
        (tmp_path / "a.gotmpl").write_text("{{ range .Tools }}{{ .Function }}{{ end }}" + GOOD, encoding="utf-8")
        done = shell(f'"$@" 2>{stderr}', *PROGRAM, "convert", "a.gotmpl", "-o", "b.jinja", cwd=tmp_path)
        assert done.returncode == 0
        assert (tmp_path / "b.jinja").is_file()

    def test_a_pipe_behind_a_name(self, chat: Path) -> None:
        done = shell('"$@" -o /dev/stdout | head -1', *PROGRAM, "convert", "chat.gotmpl", cwd=chat.parent)
        assert (done.stdout, done.stderr) == (OURS, "")

    @pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
    @pytest.mark.parametrize("colour", [True, False], ids=["colour", "NO_COLOR"])
    def test_a_terminal(self, colour: bool, tmp_path: Path) -> None:
        (tmp_path / "a.gotmpl").write_text("{{ range .Tools }}{{ .Function }}{{ end }}" + GOOD, encoding="utf-8")
        (tmp_path / "b.gotmpl").write_text("{{ if }}", encoding="utf-8")
        reader, writer = os.openpty()
        done = subprocess.run(
            [*PROGRAM, "convert", "a.gotmpl", "b.gotmpl", "-o", "out/"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=writer,
            env=surroundings() if colour else surroundings(NO_COLOR="1"),
            check=False,
        )
        os.close(writer)
        said = b""
        with suppress(OSError):  # the end of a pseudo-terminal
            while data := os.read(reader, 4096):
                said += data
        os.close(reader)
        assert (done.returncode, done.stdout) == (1, b"")
        assert said.endswith(b"1 converted, 1 refused, 1 warning\r\n")
        assert (b"\x1b[" in said) is colour


def test_the_formats_are_those_of_rendering() -> None:
    assert tuple(FORMATS) == _FORMATS


def test_version() -> None:
    assert run("--version").stdout.startswith("gotmpl2jinja ")


def test_an_unknown_option_is_wrong_use() -> None:
    assert run("convert", "--nope").exit_code == 2
