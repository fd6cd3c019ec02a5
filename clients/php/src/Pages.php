<?php

declare(strict_types=1);

namespace Offhook;

use Offhook\Exception\InvalidResponseException;
use Offhook\Exception\OffhookException;

/**
 * A list. `foreach` gives every item, page after page, and asks for a page only when its first item is wanted. Nothing is
 * sent before.
 *
 * @template TItem
 * @template TPage of array<string, mixed>
 *
 * @implements \IteratorAggregate<int, TItem>
 */
final class Pages implements \IteratorAggregate
{
    /**
     * @param \Closure(array<string, string|int>): mixed $load Sends the request with the changes to its query.
     * @param bool $hasCursor Whether `nextCursor` leads to the next page, or an offset.
     */
    public function __construct(
        private readonly \Closure $load,
        private readonly int $firstOffset,
        private readonly bool $hasCursor,
    ) {
    }

    /**
     * The first page as the server gives it, with `total` where it has one.
     *
     * @return TPage
     *
     * @throws OffhookException
     */
    public function firstPage(): array
    {
        return $this->page([]);
    }

    /**
     * @return \Generator<int, TItem>
     *
     * @throws OffhookException
     */
    public function getIterator(): \Generator
    {
        foreach ($this->pages() as $page) {
            foreach ($this->itemsOf($page) as $item) {
                yield $item;
            }
        }
    }

    /**
     * Each page as the server gives it.
     *
     * @return \Generator<int, TPage>
     *
     * @throws OffhookException
     */
    public function pages(): \Generator
    {
        $changes = [];
        while ($changes !== null) {
            $page = $this->page($changes);
            yield $page;
            $changes = $this->next($page, $changes);
        }
    }

    /**
     * @param array<string, string|int> $changes
     *
     * @return TPage
     */
    private function page(array $changes): array
    {
        $page = ($this->load)($changes);
        $this->itemsOf($page);

        /** @var TPage $page */
        return $page;
    }

    /** @return list<TItem> */
    private function itemsOf(mixed $page): array
    {
        $items = is_array($page) ? $page['data'] ?? null : null;
        if (is_array($items) && array_is_list($items)) {
            /** @var list<TItem> $items */
            return $items;
        }
        throw self::notAPage('it has no data');
    }

    /**
     * What the query of the next page changes; null after the last one.
     *
     * @param TPage $page
     * @param array<string, string|int> $asked
     *
     * @return array<string, string|int>|null
     */
    private function next(array $page, array $asked): ?array
    {
        if ($this->hasCursor) {
            return $this->nextCursor($page, $asked['cursor'] ?? null);
        }
        $count = count($this->itemsOf($page));
        $offset = (int) ($asked['offset'] ?? $this->firstOffset) + $count;
        $total = $page['total'] ?? 0;

        // An empty page ends a list that became shorter meanwhile.
        return $count > 0 && is_int($total) && $offset < $total ? ['offset' => $offset] : null;
    }

    /**
     * @param TPage $page
     *
     * @return array{cursor: string}|null
     */
    private function nextCursor(array $page, string|int|null $asked): ?array
    {
        if (($page['hasMore'] ?? null) !== true) {
            return null;
        }
        $cursor = $page['nextCursor'] ?? null;
        if (is_string($cursor) && $cursor !== $asked) {
            return ['cursor' => $cursor];
        }
        throw self::notAPage('its cursor does not move on');
    }

    private static function notAPage(string $why): InvalidResponseException
    {
        return new InvalidResponseException("Cannot read the page: $why", 200);
    }
}
