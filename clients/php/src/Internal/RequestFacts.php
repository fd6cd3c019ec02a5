<?php

declare(strict_types=1);

namespace Offhook\Internal;

/** What a method knows of its request. */
final class RequestFacts
{
    /**
     * @param string $operation Name of the method; paths have people's numbers in them, so errors name this.
     * @param array<string, string|int|bool|null> $query By the names of the interface; null is left out.
     * @param array<array-key, mixed>|null $body
     * @param list<string> $objects Places in the body where an empty array is an object.
     * @param string $accept Content type of the answer.
     * @param bool $cursor Of lists: pages by cursor instead of offset.
     */
    public function __construct(
        public readonly string $operation,
        public readonly string $method,
        public readonly string $path,
        public readonly RetryRule $retry,
        public readonly array $query = [],
        public readonly ?array $body = null,
        public readonly array $objects = [],
        public readonly string $accept = 'application/json',
        public readonly bool $cursor = false,
        public readonly ?string $ifMatch = null,
    ) {
    }

    /** @param array<string, string|int|bool|null> $changes Parameters that replace those of the query. */
    public function withQuery(array $changes): self
    {
        return new self(
            $this->operation,
            $this->method,
            $this->path,
            $this->retry,
            [...$this->query, ...$changes],
            $this->body,
            $this->objects,
            $this->accept,
            $this->cursor,
            $this->ifMatch,
        );
    }

    public function withAccept(string $accept): self
    {
        return new self($this->operation, $this->method, $this->path, $this->retry, $this->query, accept: $accept);
    }
}
