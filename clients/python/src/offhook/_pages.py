"""Lists: one page, and iterators over the items of all."""

from __future__ import annotations

from typing import (
    Any,
    AsyncIterator,
    Awaitable,
    Callable,
    Dict,
    Generator,
    Generic,
    Iterator,
    List,
    Mapping,
    Optional,
    TypeVar,
)

from ._request import Request, Scalar
from .errors import InvalidResponseError

Item = TypeVar("Item")

Changed = Mapping[str, Scalar]
"""What the query of a page has instead of the first one's."""


class PageData(Generic[Item]):
    """One page of a list."""

    def __init__(self, raw: object, asked: Changed, request: Request) -> None:
        data = raw.get("data") if isinstance(raw, dict) else None
        if not isinstance(raw, dict) or not isinstance(data, list):
            raise _not_a_page("it has no data")
        self.raw: Dict[str, Any] = raw
        """The page as the server sent it."""
        self.data: List[Item] = data
        self.total: Optional[int] = raw.get("total")
        """All matching items; None in lists with a cursor."""
        self._asked = asked
        self._request = request

    def next_query(self) -> Optional[Changed]:
        """What the query of the next page changes; None after the last one."""
        if self._request.paging == "cursor":
            return self._next_cursor()
        first = (self._request.query or {}).get("offset") or 0
        offset = int(self._asked.get("offset", first)) + len(self.data)
        # An empty page ends a list that became shorter meanwhile.
        is_more = len(self.data) > 0 and offset < (self.total or 0)
        return {"offset": offset} if is_more else None

    def _next_cursor(self) -> Optional[Changed]:
        if self.raw.get("hasMore") is not True:
            return None
        cursor = self.raw.get("nextCursor")
        if isinstance(cursor, str) and cursor != self._asked.get("cursor"):
            return {"cursor": cursor}
        raise _not_a_page("its cursor does not move on")


class Page(PageData[Item]):
    """One page of a list. Iterating over it gives every item of it and of the pages that follow,
    which are asked for only when their first item is wanted."""

    def __init__(
        self, raw: object, asked: Changed, request: Request, load: Callable[[Changed], object]
    ) -> None:
        super().__init__(raw, asked, request)
        self._load = load

    @staticmethod
    def first(request: Request, load: Callable[[Changed], object]) -> Page[Any]:
        return Page(load({}), {}, request, load)

    def next_page(self) -> Optional[Page[Item]]:
        """None after the last page."""
        changed = self.next_query()
        if changed is None:
            return None
        return Page(self._load(changed), changed, self._request, self._load)

    def __iter__(self) -> Iterator[Item]:
        page: Optional[Page[Item]] = self
        while page is not None:
            yield from page.data
            page = page.next_page()


class AsyncPage(PageData[Item]):
    """One page of a list."""

    def __init__(
        self,
        raw: object,
        asked: Changed,
        request: Request,
        load: Callable[[Changed], Awaitable[object]],
    ) -> None:
        super().__init__(raw, asked, request)
        self._load = load

    async def next_page(self) -> Optional[AsyncPage[Item]]:
        """None after the last page."""
        changed = self.next_query()
        if changed is None:
            return None
        return AsyncPage(await self._load(changed), changed, self._request, self._load)


class AsyncPageRequest(Generic[Item]):
    """The request of a list. ``await`` gives its first page; ``async for`` gives every item, page
    after page. Nothing is sent before either."""

    def __init__(self, request: Request, load: Callable[[Changed], Awaitable[object]]) -> None:
        self._request = request
        self._load = load

    def __await__(self) -> Generator[Any, None, AsyncPage[Item]]:
        return self._first().__await__()

    async def _first(self) -> AsyncPage[Item]:
        return AsyncPage(await self._load({}), {}, self._request, self._load)

    async def __aiter__(self) -> AsyncIterator[Item]:
        page: Optional[AsyncPage[Item]] = await self._first()
        while page is not None:
            for item in page.data:
                yield item
            page = await page.next_page()


def _not_a_page(why: str) -> InvalidResponseError:
    return InvalidResponseError(f"Cannot read the page: {why}", status=200)
