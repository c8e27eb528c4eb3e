"""Many prompts, each a conversation of its own, several at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Protocol

from ..runtime.hub import Hub
from ..types.errors import ConfigError
from ..types.events import Event, TurnStarted
from .json_lines import JsonLines


class BatchAgent(Protocol):
    """The part of an agent that a batch uses."""

    hub: Hub

    def run_conversation(self, user_message: str, system_message: str | None = None) -> dict[str, Any]:
        """Run a turn."""
        ...

    def redacted(self, value: Any) -> Any:
        """Return a JSON value without secrets."""
        ...

    def interrupt(self, reason: str = "user") -> None:
        """Stop the turn."""
        ...

    def close(self) -> None:
        """End its processes."""
        ...


class Batch:
    """Asks fresh agents. :meth:`run` blocks; an exception, Ctrl+C too, stops all turns and leaves no thread.

    Args:
        make_agent: Makes the agent of one prompt; called on a worker thread.
        system_message: Added to every system prompt.
        concurrency: Turns at a time.
        output: Gets each result, without secrets, when it is there; what it holds already is not asked again.
    """

    def __init__(
        self,
        make_agent: Callable[[], BatchAgent],
        *,
        system_message: str | None = None,
        concurrency: int = 4,
        output: JsonLines | None = None,
    ) -> None:
        if concurrency < 1:
            raise ConfigError(f"concurrency is {concurrency}.", hint="Use 1 or more.")
        self._make_agent = make_agent
        self._system_message = system_message
        self._concurrency = concurrency
        self._output = output
        self._lock = threading.Lock()
        self._agents: set[BatchAgent] = set()
        self._is_stopped = False

    def run(self, prompts: Sequence[str]) -> list[dict[str, Any]]:
        """Ask every prompt and return the results in the order of the prompts.

        Each is the library's result dict with ``prompt`` and ``index``. A failed turn is a result too.

        Raises:
            HermesError: An agent cannot be made, or the output not be written.
        """
        results = self._known(prompts)
        waiting = [(index, prompt) for index, prompt in enumerate(prompts) if index not in results]
        with ThreadPoolExecutor(self._concurrency, thread_name_prefix="batch") as pool:
            try:
                futures = [pool.submit(self._ask, index, prompt) for index, prompt in waiting]
                for future in as_completed(futures):
                    result, clean = future.result()
                    results[result["index"]] = result
                    if self._output is not None:
                        self._output.append(clean)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self._stop()
                raise
        return [results[index] for index in range(len(prompts))]

    def _known(self, prompts: Sequence[str]) -> dict[int, dict[str, Any]]:
        """Return the completed results that the output holds for these prompts."""
        rows = self._output.read() if self._output is not None else []
        asked = dict(enumerate(prompts))
        return {
            row["index"]: row
            for row in rows
            if row.get("completed")
            and row.get("prompt") is not None
            and asked.get(row.get("index", -1)) == row["prompt"]
        }

    def _ask(self, index: int, prompt: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a result, and the same without secrets."""
        agent = self._make_agent()

        def end_late_starter(event: Event) -> None:
            if isinstance(event, TurnStarted) and self._is_stopped:
                agent.interrupt("batch")

        agent.hub.subscribe(end_late_starter)
        with self._lock:
            self._agents.add(agent)
        try:
            result = {"index": index, "prompt": prompt, **agent.run_conversation(prompt, self._system_message)}
            return result, {**agent.redacted(result), "prompt": prompt}
        finally:
            with self._lock:
                self._agents.discard(agent)
            agent.close()

    def _stop(self) -> None:
        with self._lock:
            self._is_stopped = True
            agents = list(self._agents)
        for agent in agents:
            agent.interrupt("batch")
