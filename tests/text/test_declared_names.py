"""The names of the functions that a text declares."""

from __future__ import annotations

import time

import pytest

from rootle.text.declared_names import find_declared_names, find_declared_types


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Deletes old segments. int deleteOldOnes()", "deleteOldOnes"),
        ("Shrink the set of replicas. def maybeShrinkIsr(): Unit", "maybeShrinkIsr"),
        ("Nack timeout. func (b *EvalBroker) Nack(evalID, token string) error", "Nack"),
        ("private void untrack(BrokerHeartbeatState broker)", "untrack"),
        ("Go back. public function back(): Request", "back"),
        ("Repeat the blob. static void repeat_blob(typval_T *blob_tv, int n)", "repeat_blob"),
        ("Skips white space. static char *skip_white(char *p)", "skip_white"),
        ("Groups the rows. public static <T> Map<String, List<T>> group(T a)", "group"),
        ("The size. std::vector<int> Foo::bar(int a) const", "bar"),
        ("Creates one. def self.create!(attributes)", "create!"),
        ("Parse it. fn parse<T>(text: &str)", "parse"),
        ("class Shop: def add(self)", "add"),
    ],
)
def test_the_name_of_a_signature_is_found(text: str, expected: str) -> None:
    assert find_declared_names(text) == {expected}


@pytest.mark.parametrize(
    "text",
    [
        "It calls the server. It then calls baz(x)",
        "who calls retry(x)",
        "Wait for it. return wait_for(lock)",
        "Read the file: const text = read_file(path)",
        "how does the function that (maybe) stops it work",
        "where is the type of a function defined",
    ],
)
def test_a_call_and_a_description_declare_nothing(text: str) -> None:
    assert find_declared_names(text) == frozenset()


@pytest.mark.parametrize(
    "part", ["a ", "a.", ". a", "func (", "def ", "<", "a, ", "a", "\n ", "M<"]
)
def test_a_long_text_takes_little_time(part: str) -> None:
    start = time.monotonic()
    find_declared_names(part * 100_000)
    assert time.monotonic() - start < 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A pool. public class BufferPool { public BufferPool(long memory)", {"BufferPool"}),
        ("class DuplicateError, getMockName", set()),
        ("class ReplicationTest(EndToEndTest): def run", {"ReplicationTest"}),
        ("public class Loader implements RaftClient.Listener<T>", {"Loader"}),
        ("module Spree::Stock; class Spree::Stock::Splitter", {"Stock", "Splitter"}),
        ("a class for errors of the server", set()),
        ("Service class to change shipments", set()),
        ("impl Parser for Reader", {"Parser"}),
    ],
)
def test_the_name_of_a_type_is_found_and_prose_is_not_a_type(text: str, expected: set[str]) -> None:
    assert find_declared_types(text) == expected
