"""Models, and questions asked of them."""

from __future__ import annotations

import atexit
import difflib
import json
import operator
import os
import weakref
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

from . import _core, hub
from .engine import Engine, ModelTokenizer, Tokenizer, vocabulary_of
from .errors import UsageError
from .result import Result
from .run import Run

Message = Mapping[str, str]
Question = Union[str, Sequence[Message]]
"""A question, or a conversation whose last message is the question: [{"role": "user", "content": "..."}]."""
OptionValue = Union[int, float, str, None]

_DATA = Path(__file__).parent / "data"
_OPTIONS = {str(option["name"]): option for option in _core.options()}


def _option_text(name: str, value: OptionValue) -> str:
    if name not in _OPTIONS:
        close = difflib.get_close_matches(name, _OPTIONS, n=1)
        hint = f"did you mean {close[0]}?" if close else "there are " + ", ".join(_OPTIONS)
        raise UsageError(f"there is no option '{name}'; {hint}")
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        number = None if isinstance(value, bool) else _plain_number(value)
        if number is None:
            raise UsageError(f"{name} is {value!r}: it must be {_OPTIONS[name]['expected']}")
        value = number
    return repr(value) if isinstance(value, float) else str(value)


def _plain_number(value: Any) -> int | float | None:
    """Of a number of another kind, such as numpy's; None: it is none."""
    try:
        return int(operator.index(value))
    except TypeError:
        return float(value) if hasattr(value, "__float__") else None


AS_IS = "as-is"
"""For `answer`: the question as it is, and the last lines of the answers vote."""


def read_profile(path: str | os.PathLike[str]) -> dict[str, OptionValue]:
    """What a profile of `dts calibrate --save` sets, as keywords of `Model.run`: {"tau_v": 0.31, "tau_h": 2.5, ...}.

    `Model(..., profile=path)` takes them for all of a model's questions. Raises dts.Error with the file and the line.
    """
    kinds: dict[str, Callable[[str], OptionValue]] = {"int": int, "float": float}
    settings: dict[str, OptionValue] = {}
    for name, text in _core.profile(os.fspath(path)):
        settings[name] = kinds.get(_OPTIONS[name]["type"], str)(text) if name in _OPTIONS else text
    return settings


class Model:
    """A model that answers questions, from any thread and as many at once as you like.

    >>> model = dts.Model("model.gguf")
    >>> model.run("How many primes are below 50?").answer
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        engine: str = "auto",
        gpu_layers: int = -1,
        threads: int = 0,
        kv_type: str = "f16",
        kv_layout: str = "streams",
        parallel_branches: int = 48,
        context_length: int = 0,
        progress: Callable[[float], None] | None = None,
        profile: str | os.PathLike[str] | None = None,
        answer: str = "auto",
    ) -> None:
        """Loads a GGUF file; of a split model its first part.

        engine: "auto" (what suits the model and this machine), "llama", "native", "native-cpu" or "native-oracle" (slow:
            what the others are checked with).
        gpu_layers: how many layers go to the GPU; -1: all that fit.
        threads: 0: one for each core.
        kv_type: "f16", "bf16" or "q8_0"; kv_layout: "streams" or "unified".
        parallel_branches: branches open at once over all questions; a question that needs more has them.
        context_length: tokens a branch may hold; 0: what the questions need, or the model and memory allow.
        progress: called with 0..1 while the file is read.
        profile: settings that `dts calibrate --save` found for this model, for all of its questions (`read_profile`).
        answer: in which form questions are asked unless they say so themselves: see `run`.

        Raises dts.Error with what is wrong with the file.
        """
        settings = {} if profile is None else read_profile(profile)
        self._start(
            _core.Host.load(
                os.fspath(path),
                engine,
                gpu_layers,
                threads,
                kv_type,
                kv_layout,
                parallel_branches,
                context_length,
                progress,
            ),
            None,
            settings,
            answer,
        )

    def _start(
        self, host: _core.Host, engine: Engine | None, settings: Mapping[str, OptionValue], answer: str
    ) -> None:
        self._host: _core.Host | None = host
        self._engine = engine
        self._settings: dict[str, OptionValue] = {"answer": answer, **settings}
        self._info = host.info
        _models.add(self)

    @classmethod
    def built_in(cls, **options: Any) -> Model:
        """The tiny model that comes with dts, which knows three kinds of problems; `examples` has some.

        The options are those of `Model(...)`.
        """
        path = os.environ.get("DTS_BUILTIN_MODEL") or _DATA / "dts-nano.gguf"
        options.setdefault("answer", AS_IS)  # it knows no words that ask for a form
        return cls(path, **options)

    @classmethod
    def from_hub(
        cls,
        name: str,
        *,
        file: str | None = None,
        on_download: Callable[[hub.Download], None] | None = hub.show,
        **options: Any,
    ) -> Model:
        """A model of the Hugging Face hub, downloaded when it is not in the hub's cache: "ORG/REPO" or "ORG/REPO:QUANT".

        `file` and `on_download` are those of `dts.hub.fetch`, the options those of `Model(...)`.
        """
        return cls(hub.fetch(name, file=file, on_download=on_download), **options)

    @classmethod
    def of(
        cls,
        engine: Engine,
        tokenizer: Tokenizer | ModelTokenizer,
        *,
        parallel_branches: int = 48,
        context_length: int = 0,
        profile: str | os.PathLike[str] | None = None,
        answer: str = AS_IS,
    ) -> Model:
        """A model written in Python: see `dts.Engine`. `dts.hf.model` makes one of a transformers model.

        profile, answer: as for `Model(...)`.
        """
        model = cls.__new__(cls)
        vocabulary = vocabulary_of(tokenizer)
        settings = {} if profile is None else read_profile(profile)
        host = _core.Host.own(engine, vocabulary, parallel_branches, context_length)
        model._start(host, engine, settings, answer)
        return model

    # Facts.

    @property
    def name(self) -> str:
        """As a person would name it."""
        return str(self._info["name"])

    @property
    def info(self) -> dict[str, Any]:
        """Name, architecture, parameters, size_bytes, training_context, recommended_sampling, ..."""
        return dict(self._info)

    @property
    def tokenizer(self) -> ModelTokenizer:
        """Text to tokens and back, and the chat template."""
        return ModelTokenizer(self._open().vocabulary)

    def __repr__(self) -> str:
        return f"<dts.Model: {self.name}>"

    # Questions.

    def start(
        self,
        question: Question,
        *,
        method: str | None = None,
        seed: int | None = None,
        system: str | None = None,
        raw: bool = False,
        stop: Iterable[str] = (),
        answer: str | None = None,
        events: bool = True,
        **options: OptionValue,
    ) -> Run:
        """Starts a question and returns at once. Iterate over the run for events; `run.result()` waits for the end.

        The arguments are those of `run`. events=False: nobody will look at them.
        """
        messages: list[tuple[str, str]] = []
        text = ""
        if raw:
            if not isinstance(question, str) or system is not None:
                raise UsageError("raw takes the prompt as one string, and no system message beside it")
            text = question
        else:
            if system is not None:
                messages.append(("system", system))
            if isinstance(question, str):
                messages.append(("user", question))
            else:
                messages += [(message["role"], message["content"]) for message in question]
        if not raw and not (messages and messages[-1][1]):
            raise UsageError("the question is empty: it must have at least one character")
        asked: dict[str, OptionValue] = {"answer": answer, "method": method, "seed": seed, **options}
        given = {**self._settings, **{name: value for name, value in asked.items() if value is not None}}
        form = str(given.pop("answer"))
        if raw and answer not in (None, AS_IS):
            raise UsageError(f"answer is '{answer}': a raw prompt is taken as it is")
        pairs = [(name, _option_text(name, value)) for name, value in given.items()]
        stops = [stop] if isinstance(stop, str) else list(stop)
        form = "" if form == AS_IS else form
        return Run(self._open().ask(messages, text, stops, form, pairs, events), self)

    def run(
        self,
        question: Question,
        *,
        method: str | None = None,
        seed: int | None = None,
        system: str | None = None,
        raw: bool = False,
        stop: Iterable[str] = (),
        answer: str | None = None,
        **options: OptionValue,
    ) -> Result:
        """Answers a question.

        method: a name of `dts.methods()`; None: dts-stable, or the model's profile's.
        seed: the same seed gives the same tree; None: 0.
        system: a system message.
        raw: the prompt as it is, without the model's chat template.
        stop: texts that end a trajectory where its answer comes to one of them.
        answer: in which form the answer is asked for, read and voted on. "boxed" asks for \\boxed{}, and what means the
            same is one vote; "letter" asks for the letter of an option; "text" asks for nothing, and texts that say
            the same in nearly the same words are one vote; "auto" takes the one that suits the question; "as-is" asks
            for nothing and lets last lines vote. None: the model's, which is "auto" for files and the hub as for
            `dts run`, and "as-is" for the built-in model and models written in Python.
        options: max_tokens, tau_v, votes, temperature, ...: those of `dts.options()`, whose names they have.

        Ctrl-C ends the search and raises KeyboardInterrupt.
        """
        return self.start(
            question, method=method, seed=seed, system=system, raw=raw, stop=stop, answer=answer, events=False, **options
        ).result()

    def run_many(
        self,
        questions: Iterable[Question],
        *,
        method: str | None = None,
        seed: int | None = None,
        system: str | None = None,
        raw: bool = False,
        stop: Iterable[str] = (),
        answer: str | None = None,
        **options: OptionValue,
    ) -> list[Result]:
        """Answers many questions at once, in one batch of the model: results in the order of the questions.

        Each is what `run` gives for it. The first that fails is raised, once the others are cancelled.
        """
        stops = [stop] if isinstance(stop, str) else list(stop)
        runs: list[Run] = []
        try:
            for question in questions:
                runs.append(
                    self.start(
                        question, method=method, seed=seed, system=system, raw=raw, stop=stops, answer=answer, events=False, **options
                    )
                )
            return [run.result() for run in runs]
        except BaseException:
            for run in runs:
                run.cancel()
            raise

    async def arun(
        self,
        question: Question,
        *,
        method: str | None = None,
        seed: int | None = None,
        system: str | None = None,
        raw: bool = False,
        stop: Iterable[str] = (),
        answer: str | None = None,
        **options: OptionValue,
    ) -> Result:
        """`run` for asyncio: many of them at once share the model. A task that is cancelled ends its search."""
        return await self.start(
            question, method=method, seed=seed, system=system, raw=raw, stop=stop, answer=answer, events=False, **options
        )

    # Its end.

    def close(self) -> None:
        """Ends what runs and frees the model. Done by itself when nobody uses the model any more."""
        host, self._host = self._host, None
        if host is not None:
            host.close()

    def __enter__(self) -> Model:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> _core.Host:
        if self._host is None:
            raise UsageError("the model was closed: it takes no more questions")
        return self._host

    def _cause(self) -> BaseException | None:
        return None if self._engine is None else self._engine.last_error


_models: weakref.WeakSet[Model] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Before the interpreter goes: a model's thread may need it."""
    for model in list(_models):
        model.close()


def examples() -> list[dict[str, str]]:
    """Problems that the built-in model was made for, each with a "question" and its "answer"."""
    with open(_DATA / "nano-bench.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
