"""A question while it is being answered."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, AsyncIterator, Generator, Iterator, NamedTuple

from . import _core
from .errors import Error
from .result import Result

if TYPE_CHECKING:
    from .model import Model


class Grown(NamedTuple):
    """A token that a step has added to the tree."""

    segment: int
    token: int
    text: str
    logprob: float
    entropy: float
    varentropy: float
    confidence: float


@dataclass(frozen=True)
class Event:
    """Something that happened in a search."""

    type: str
    """"prefill", "step", "branch", "finish", "exhaust", "retire" or, last of all, "done"."""
    step: int
    segment: int | None
    """branch: the segment that split; finish, exhaust and retire: the trajectory's last."""
    live: int
    """Branches that are growing."""
    finished: int
    """Trajectories that have finished so far."""
    tokens: int
    """prefill: those of the prompt that are done; else those in the tree."""
    grown: tuple[Grown, ...]
    """step: the tokens that it added."""
    children: tuple[int, ...]
    """branch: the segments it opened."""
    answer: str
    """finish: what the trajectory votes for."""


def _event(raw: _core.Event) -> Event:
    kind, step, segment, live, finished, tokens, grown, children, answer = raw
    return Event(
        type=kind,
        step=step,
        segment=None if segment < 0 else segment,
        live=live,
        finished=finished,
        tokens=tokens,
        grown=tuple(Grown(s, t, text.decode("utf-8", "replace"), *rest) for s, t, text, *rest in grown),
        children=tuple(children),
        answer=answer.decode("utf-8", "replace"),
    )


class Run:
    """A question being answered, made by `Model.start`.

    Iterate over it for events as they come (`for event in run`, `async for event in run`), call `result()` or `await` it
    for the end. `cancel()` ends it with what it has. Used as a context manager it is cancelled when the block is left.
    """

    def __init__(self, run: _core.Run, model: Model) -> None:
        self._run = run
        self._model = model  # kept alive: it answers
        self._waiting: dict[int, list[asyncio.Future[None]]] = {}

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._run.done

    def cancel(self) -> None:
        """Ends it soon, with what it has. Does nothing when it is done."""
        self._run.cancel()

    def result(self, timeout: float | None = None) -> Result:
        """Waits for the end. Raises what failed; TimeoutError when it takes longer than `timeout` seconds.

        A run that was cancelled or came to a budget has a result, too: see `Result.complete`. Ctrl-C cancels the run and
        raises KeyboardInterrupt.
        """
        try:
            ended = self._run.wait_done(-1.0 if timeout is None else max(0.0, timeout))
        except KeyboardInterrupt:
            self.cancel()
            raise
        if not ended:
            raise TimeoutError(f"the run has not ended within {timeout} seconds")
        return self._ended()

    def _ended(self) -> Result:
        try:
            self._run.raise_error()
        except Error as error:
            cause = self._model._cause()
            if cause is not None:
                raise error from cause
            raise
        document = self._run.document()
        assert document is not None  # without one there is an error
        return Result(document)

    def __iter__(self) -> Iterator[Event]:
        while True:
            try:
                self._run.wait(-1.0)
            except KeyboardInterrupt:
                self.cancel()
                raise
            raw = self._run.next_event()
            if raw is None:  # done, and told to the end
                return
            yield _event(raw)

    async def _wait(self, descriptor: int) -> None:
        """Until the descriptor can be read, which the library sees to: no thread waits. Any number of tasks may."""
        if descriptor < 0:
            raise Error("no descriptor is left to wait with: this process has too many open")
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        waiting = self._waiting.setdefault(descriptor, [])
        waiting.append(ready)

        def wake() -> None:
            loop.remove_reader(descriptor)
            for future in self._waiting.pop(descriptor, []):
                if not future.done():
                    future.set_result(None)

        if len(waiting) == 1:
            loop.add_reader(descriptor, wake)
        await ready

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            done = self.done  # first: what is told last is told before
            raw = self._run.next_event()
            if raw is not None:
                yield _event(raw)
            elif done:
                return
            else:
                await self._wait(self._run.event_fileno())

    async def _finish(self) -> Result:
        try:
            while not self.done:
                await self._wait(self._run.done_fileno())
        except asyncio.CancelledError:
            self.cancel()
            raise
        return self._ended()

    def __await__(self) -> Generator[object, None, Result]:
        return self._finish().__await__()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()

    def __del__(self) -> None:
        run = getattr(self, "_run", None)
        if run is not None:
            run.cancel()
