"""The types that well-known generic types contain: elements of lists, values of promises."""

from __future__ import annotations

from typing import Final

from rootle.syntax.declared.expressions import Step
from rootle.syntax.declared.type_names import ARRAY, MAP, TypeName

_PROMISES: Final = frozenset(
    "Promise PromiseLike Task ValueTask Future Awaitable Coroutine CompletableFuture".split()
)
# Types whose only argument is the type of their elements.
_LISTS: Final = frozenset(
    """Array ArrayDeque ArrayList BTreeSet Collection Deque Flow HashSet IAsyncEnumerable
    ICollection IEnumerable IList IReadOnlyCollection IReadOnlyList Iterable Iterator LinkedHashSet
    LinkedList List MutableCollection MutableList MutableSet Option Queue ReadonlyArray Sequence Set
    Vec VecDeque deque frozenset list set tuple""".split()
)
# Types that have all members of their argument.
_POINTERS: Final = frozenset(
    "Arc Box LazyLock MutexGuard Rc Ref RefMut RwLockReadGuard RwLockWriteGuard".split()
)
_SAME: Final = frozenset("as_mut as_ref clone iter iter_mut into_iter to_owned".split())
_UNWRAPPING: Final = frozenset("expect unwrap unwrap_or_default".split())
_LOCKING: Final = frozenset("borrow borrow_mut lock read write".split())
_CELLS: Final = frozenset({"Mutex", "RefCell", "RwLock"})
_RESULTS: Final = frozenset({"CargoResult", "LockResult", "Option", "Result"})


def await_type(name: TypeName) -> TypeName:
    """Return the type of the value that `await` yields; unchanged if the type is no promise."""
    if name.name in _PROMISES and name.arguments and name.arguments[-1] is not None:
        return name.arguments[-1]
    return name


def find_element_type(name: TypeName) -> TypeName | None:
    """Return the type of the elements of a list, or of the values of a map; None if unknown."""
    inner = strip_pointer(name)
    if inner is None or not inner.arguments:
        return None
    if inner.name in (ARRAY, MAP) or (inner.name in _LISTS and len(inner.arguments) == 1):
        return inner.arguments[-1]
    return None


def strip_pointer(name: TypeName) -> TypeName | None:
    """Return the type whose members a value has: `Foo` for `Arc<Foo>`."""
    current: TypeName | None = name
    while current is not None and current.name in _POINTERS and len(current.arguments) == 1:
        current = current.arguments[0]
    return current


def find_result_type(name: TypeName, step: Step) -> TypeName | None:
    """Return the result type of a known method of Rust's standard library; None for others."""
    if step.name in _SAME:
        return name
    inner = strip_pointer(name)
    if inner is None or not inner.arguments:
        return None
    if step.name in _UNWRAPPING and inner.name in _RESULTS:
        return inner.arguments[0]
    if step.name in _LOCKING and inner.name in _CELLS and inner.arguments[0] is not None:
        found = inner.arguments[0]
        return (
            found
            if inner.name == "RefCell" or step.is_unwrapped
            else TypeName("Result", arguments=(found,))
        )
    return None
