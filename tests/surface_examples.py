"""Small logs that each show one rule of the surface: the last event breaks it, or just does not.

Each function below builds one; its name says what it shows, its decorator the format version and
the code with which the last event is refused (None: the log is taken whole).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.logs import TOOL, EventDict, LogBuilder, image, text


class Example(NamedTuple):
    version: int
    events: list[EventDict]
    code: str | None


EXAMPLES: dict[str, Example] = {}

_Build = Callable[[LogBuilder], None]


def example(version: int, code: str | None) -> Callable[[_Build], _Build]:
    def register(build: _Build) -> _Build:
        log = LogBuilder(version)
        build(log)
        EXAMPLES[build.__name__] = Example(version, log.events, code)
        return build

    return register


def _say(log: LogBuilder, times: int = 1) -> None:
    for _ in range(times):
        log.append("user/message", log.user(text("hello")))


def _answer(log: LogBuilder, meta: object = None) -> None:
    log.append("tool/result", log.result("c1", text("long"), meta=meta))


# -- the log and the types --


@example(0, "seq-not-contiguous")
def a_seq_is_left_out(log: LogBuilder) -> None:
    _say(log, 2)
    log.events[1]["seq"] = 2


@example(4, "op-on-log-only")
def a_turn_claims_to_be_on_the_surface(log: LogBuilder) -> None:
    log.add("turn/start", {"turn": 1}, surfaceOp=None)


@example(2, "op-on-log-only")
def a_type_of_a_later_format_claims_to_be_on_the_surface(log: LogBuilder) -> None:
    log.add("system/message", log.system(), surfaceOp="append")


@example(0, "op-on-log-only")
def a_known_type_is_not_opaque_even_if_ignorable(log: LogBuilder) -> None:
    log.add("turn/start", {"turn": 1}, ignorable=True, surfaceOp="append")


@example(0, None)
def an_unknown_ignorable_event_carries_what_it_likes(log: LogBuilder) -> None:
    log.add("pack/thing", {}, ignorable=True, surfaceOp=["x"], sourceEventSeqs=9)


@example(1, "sources-on-log-only")
def a_turn_cites_sources(log: LogBuilder) -> None:
    log.add("turn/start", {"turn": 1})
    log.add("turn/end", {"turn": 1}, sourceEventSeqs=[0])


@example(3, "op-missing")
def a_message_has_no_op(log: LogBuilder) -> None:
    log.add("user/message", log.user())


@example(1, None)
def steering_messages_are_of_format_0_alone(log: LogBuilder) -> None:
    log.add("steering/message", log.user())


@example(0, None)
def steering_messages_are_on_the_surface_of_format_0(log: LogBuilder) -> None:
    log.append("steering/message", log.user())


# -- the op --


@example(0, "op-invalid")
def an_op_is_null(log: LogBuilder) -> None:
    log.add("user/message", log.user(), surfaceOp=None)


@example(3, "replace-invalid")
def a_replace_is_spelled_as_before_format_3(log: LogBuilder) -> None:
    _say(log)
    op = {"op": "replace", "start": 0, "end": 0}
    log.add("user/message", log.user(), sourceEventSeqs=[0], surfaceOp=op)


@example(0, "replace-invalid")
def a_replace_has_one_key_more(log: LogBuilder) -> None:
    _say(log)
    op = {**log.replace_op(0, 0), "why": "tidy"}
    log.add("user/message", log.user(), sourceEventSeqs=[0], surfaceOp=op)


@example(0, "replace-invalid")
def an_end_is_minus_zero(log: LogBuilder) -> None:
    _say(log)
    log.add("user/message", log.user(), sourceEventSeqs=[0], surfaceOp=log.replace_op(-0.0, 0))


@example(0, "replace-invalid")
def an_end_is_true(log: LogBuilder) -> None:
    _say(log, 2)
    log.add("user/message", log.user(), sourceEventSeqs=[1], surfaceOp=log.replace_op(1, True))


@example(4, None)
def an_end_may_be_spelled_as_a_float(log: LogBuilder) -> None:
    _say(log, 2)
    op = log.replace_op(1.0, 1)
    log.add("user/message", log.user(), sourceEventSeqs=[1.0], surfaceOp=op)


@example(0, "replace-start-not-on-surface")
def a_start_is_shadowed_already(log: LogBuilder) -> None:
    _say(log, 2)
    log.replace("user/message", log.user(), 0, 0)
    log.add("user/message", log.user(), sourceEventSeqs=[0, 1], surfaceOp=log.replace_op(0, 1))


@example(4, "replace-end-not-on-surface")
def an_end_is_log_only(log: LogBuilder) -> None:
    _say(log)
    log.start_turn()
    log.add("user/message", log.user(), sourceEventSeqs=[0, 1], surfaceOp=log.replace_op(0, 1))


@example(4, "replace-start-not-on-surface")
def an_end_is_the_event_itself(log: LogBuilder) -> None:
    _say(log)
    log.add("user/message", log.user(), sourceEventSeqs=[0], surfaceOp=log.replace_op(1, 1))


@example(0, "replace-inverted")
def a_replace_goes_backwards_on_the_surface(log: LogBuilder) -> None:
    _say(log, 3)
    log.replace("user/message", log.user(), 0, 1)  # event 3 stands before event 2 now
    log.add("user/message", log.user(), sourceEventSeqs=[2, 3], surfaceOp=log.replace_op(2, 3))


@example(0, None)
def a_replace_goes_by_position_and_not_by_seq(log: LogBuilder) -> None:
    _say(log, 3)
    log.replace("user/message", log.user(), 0, 1)
    log.replace("user/message", log.user(), 0, 1)


# -- the sources --


@example(0, "sources-not-array")
def sources_are_null(log: LogBuilder) -> None:
    log.add("user/message", log.user(), sourceEventSeqs=None, surfaceOp="append")


@example(2, "sources-empty")
def a_user_message_cites_nothing(log: LogBuilder) -> None:
    log.append("user/message", log.user(), [])


@example(3, "sources-empty")
def a_settlement_cites_nothing_in_format_3(log: LogBuilder) -> None:
    log.append("assistant/message", log.assistant(), [])


@example(0, None)
def a_settlement_may_cite_nothing_before_format_3(log: LogBuilder) -> None:
    log.append("assistant/message", log.assistant(), [])


@example(3, "sources-on-settlement")
def a_settlement_cites_something_in_format_3(log: LogBuilder) -> None:
    _say(log)
    log.append("assistant/message", log.assistant(), [0])


@example(2, None)
def a_settlement_that_cites_something_is_let_into_format_2(log: LogBuilder) -> None:
    _say(log)
    log.append("assistant/message", log.assistant(), [0])


@example(0, "sources-not-seqs")
def a_source_is_true(log: LogBuilder) -> None:
    _say(log, 2)
    log.add("user/message", log.user(), sourceEventSeqs=[True], surfaceOp="append")


@example(0, "sources-not-seqs")
def a_source_is_minus_zero(log: LogBuilder) -> None:
    _say(log)
    log.add("user/message", log.user(), sourceEventSeqs=[-0.0], surfaceOp="append")


@example(0, "sources-duplicate")
def a_source_is_cited_twice_in_two_spellings(log: LogBuilder) -> None:
    _say(log, 2)
    log.add("user/message", log.user(), sourceEventSeqs=[1, 1.0], surfaceOp="append")


@example(0, "sources-not-earlier")
def an_event_cites_itself(log: LogBuilder) -> None:
    _say(log)
    log.append("user/message", log.user(), [1])


@example(4, "sources-miss-shadowed")
def a_replace_does_not_cite_what_it_shadows(log: LogBuilder) -> None:
    _say(log, 3)
    log.replace("user/message", log.user(), 0, 2, [0, 2])


@example(0, "sources-miss-shadowed")
def a_replace_cites_nothing_at_all(log: LogBuilder) -> None:
    _say(log)
    log.add("user/message", log.user(), surfaceOp=log.replace_op(0, 0))


@example(0, None)
def sources_come_in_any_order_and_may_be_more_than_needed(log: LogBuilder) -> None:
    log.start_turn()
    _say(log, 3)
    log.replace("user/message", log.user(), 0, 1)
    log.replace("user/message", log.user(), 0, 1, [3, 0, 4, 1])


# -- tool results --


@example(1, "result-rewrite-span")
def a_result_replaces_two(log: LogBuilder) -> None:
    _answer(log)
    _answer(log)
    log.replace("tool/result", log.rewritten(0), 0, 1)


@example(4, "result-rewrite-target")
def a_result_replaces_a_user_message(log: LogBuilder) -> None:
    _say(log)
    log.replace("tool/result", log.result("c1"), 0, 0)


@example(2, "result-rewrite-fields")
def a_rewritten_result_has_another_meta(log: LogBuilder) -> None:
    _answer(log, {"exit": 1})
    log.replace("tool/result", {**log.rewritten(0), "meta": {"exit": True}}, 0, 0)


@example(3, "result-rewrite-fields")
def before_format_4_the_block_of_a_result_stays_but_for_its_content(log: LogBuilder) -> None:
    _answer(log)
    data = log.rewritten(0)
    data["message"]["content"][0]["toolCallId"] = "c2"
    log.replace("tool/result", data, 0, 0)


@example(0, None)
def a_rewritten_result_is_compared_as_values(log: LogBuilder) -> None:
    _answer(log, {"exit": 1, "a.b": [1.5, 'say "x"']})
    data = log.rewritten(0, text("short"), text("er"))
    data["meta"] = {"a.b": [1.5, 'say "x"'], "exit": 1.0}
    log.replace("tool/result", {key: data[key] for key in reversed(data)}, 0, 0)


@example(4, None)
def in_format_4_the_whole_content_of_a_result_may_change(log: LogBuilder) -> None:
    _answer(log)
    log.replace("tool/result", log.rewritten(0), 0, 0)
    log.replace("tool/result", log.rewritten(0, image("i")), 0, 0)


@example(0, None)
def an_old_result_without_a_message_may_be_rewritten(log: LogBuilder) -> None:
    data = {**log.place, "callId": "c1", "content": [text("long")], "isError": False}
    log.append("tool/result", data)
    log.replace("tool/result", {**data, "content": [text("[pruned]")]}, 0, 0)


@example(0, "result-rewrite-fields")
def an_old_result_keeps_its_call(log: LogBuilder) -> None:
    data = {**log.place, "callId": "c1", "content": [text("long")], "isError": False}
    log.append("tool/result", data)
    log.replace("tool/result", {**data, "callId": "c2"}, 0, 0)


# -- the system message --


@example(3, "system-head-protected")
def the_first_system_message_is_shadowed_by_another_type(log: LogBuilder) -> None:
    log.append("system/message", log.system())
    log.replace("user/message", log.user(), 0, 0)


@example(4, "system-head-protected")
def the_first_system_message_is_shadowed_with_others(log: LogBuilder) -> None:
    log.append("system/message", log.system())
    _say(log)
    log.replace("system/message", log.system(), 0, 1)


@example(3, None)
def the_first_system_message_may_be_rewritten(log: LogBuilder) -> None:
    log.append("system/message", log.system())
    log.replace("system/message", log.system(text("Be brief.")), 0, 0)


@example(4, None)
def a_later_system_message_is_like_any_other(log: LogBuilder) -> None:
    _say(log)
    log.append("system/message", log.system())
    log.replace("user/message", log.user(), 0, 1)


# -- images and tools (format 4) --


@example(4, None)
def images_are_offloaded_one_after_the_other(log: LogBuilder) -> None:
    log.append("user/message", log.user(image("a"), text("and"), image("b")))
    log.append("tool/result", log.result("c1", image("c")))
    log.offload((0, [1]))
    log.offload((1, [0]), (0, [0]))


@example(4, "offload-invalid")
def an_image_is_offloaded_twice(log: LogBuilder) -> None:
    log.append("user/message", log.user(image("a")))
    log.offload((0, [0]))
    log.offload((0, [0]))


@example(4, "offload-invalid")
def an_image_does_not_exist(log: LogBuilder) -> None:
    log.append("user/message", log.user(image("a"), text("b")))
    log.offload((0, [0, 1]))


@example(4, "offload-invalid")
def an_image_is_of_a_shadowed_message(log: LogBuilder) -> None:
    log.append("user/message", log.user(image("a")))
    log.replace("user/message", log.user(), 0, 0)
    log.offload((0, [0]))


@example(4, "offload-invalid")
def an_image_is_of_a_message_that_no_one_can_see_images_in(log: LogBuilder) -> None:
    log.append("assistant/message", log.assistant(image("a")))
    log.offload((0, [0]))


@example(4, "offload-invalid")
def indexes_of_images_go_down(log: LogBuilder) -> None:
    log.append("user/message", log.user(image("a"), image("b")))
    log.offload((0, [1, 0]))


@example(4, "offload-invalid")
def a_message_is_named_twice(log: LogBuilder) -> None:
    log.append("user/message", log.user(image("a"), image("b")))
    log.offload((0, [0]), (0, [1]))


@example(3, None)
def images_have_no_rules_before_format_4(log: LogBuilder) -> None:
    log.offload((9, []))


@example(4, None)
def a_developer_message_adds_a_tool_of_an_earlier_header(log: LogBuilder) -> None:
    log.header(TOOL, {**TOOL, "name": "dig"})
    added = {"type": "tool-addition", "toolName": "shell"}
    log.append("developer/message", log.developer(added, headerSeq=0))


@example(4, "developer-header-invalid")
def a_developer_message_names_no_header(log: LogBuilder) -> None:
    log.start_turn()
    added = {"type": "tool-addition", "toolName": "shell"}
    log.append("developer/message", log.developer(added, headerSeq=0))


@example(4, "developer-header-invalid")
def a_developer_message_adds_a_tool_that_is_defined_twice(log: LogBuilder) -> None:
    log.header(TOOL, TOOL)
    added = {"type": "tool-addition", "toolName": "shell"}
    log.append("developer/message", log.developer(added, headerSeq=0))


@example(4, "developer-header-invalid")
def a_developer_message_names_a_header_and_adds_nothing(log: LogBuilder) -> None:
    log.header(TOOL)
    removed = {"type": "tool-removal", "toolName": "shell"}
    log.append("developer/message", log.developer(removed, headerSeq=0))


@example(4, "developer-header-invalid")
def a_developer_message_defines_its_tool_in_place(log: LogBuilder) -> None:
    log.header(TOOL)
    added = {"type": "tool-addition", "toolName": "shell", "tool": TOOL}
    log.append("developer/message", log.developer(added, headerSeq=0))
