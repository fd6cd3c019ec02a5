<?php

declare(strict_types=1);

namespace Offhook;

use Offhook\Exception\OffhookException;
use Offhook\Http\HttpResponse;

/**
 * What is being downloaded: a file, or sound that goes on. It can be read once: whole, or piece by piece with `foreach`.
 *
 * @implements \IteratorAggregate<int, string>
 */
final class Download implements \IteratorAggregate
{
    public readonly string $contentType;
    /** Null where the server does not say it, as for the sound of a call in progress. */
    public readonly ?int $sizeBytes;

    public function __construct(
        private readonly HttpResponse $response,
        private readonly float $timeoutSeconds,
    ) {
        $size = $response->header('content-length');
        $this->contentType = $response->header('content-type') ?? '';
        $this->sizeBytes = $size === null ? null : (int) $size;
    }

    /**
     * Leaving the loop early ends the download.
     *
     * @return \Generator<int, string>
     *
     * @throws OffhookException
     */
    public function getIterator(): \Generator
    {
        try {
            while (($piece = $this->response->read($this->timeoutSeconds)) !== '') {
                yield $piece;
            }
        } finally {
            $this->response->close();
        }
    }

    /**
     * The whole, in memory.
     *
     * @throws OffhookException
     */
    public function contents(): string
    {
        return implode('', iterator_to_array($this, false));
    }

    /**
     * Writes the whole to a file, which must not exist yet.
     *
     * @throws OffhookException
     * @throws \RuntimeException when the file cannot be written
     */
    public function saveTo(string $path): void
    {
        $file = @fopen($path, 'xb');
        if ($file === false) {
            $this->close();
            throw new \RuntimeException("Cannot save the download to \"$path\": the file exists, or its folder does not take it");
        }
        try {
            foreach ($this as $piece) {
                if (fwrite($file, $piece) !== strlen($piece)) {
                    throw new \RuntimeException("Cannot save the download to \"$path\": the disk takes no more");
                }
            }
        } finally {
            fclose($file);
        }
    }

    /** Ends the download. Safe to call twice, and not needed after its end. */
    public function close(): void
    {
        $this->response->close();
    }
}
