<?php

declare(strict_types=1);

namespace Offhook\Http;

/** What curl has handed over of an answer. It knows nothing of curl's handles, which refer to it. */
final class CurlReceived
{
    private int $status = 0;
    /** @var array<string, string> */
    private array $headers = [];
    private bool $hasHeaders = false;
    private string $body = '';
    private ?\Throwable $failure = null;

    public function takeHeader(\CurlHandle $handle, string $line): int
    {
        if (!$this->hasHeaders) {
            $this->readHeader(trim($line));
        }

        return strlen($line);
    }

    public function takeBody(\CurlHandle $handle, string $piece): int
    {
        $this->body .= $piece;

        return strlen($piece);
    }

    /** The error that follows what has come so far. */
    public function fail(\Throwable $failure): void
    {
        $this->failure = $failure;
    }

    /** @throws \Throwable when they will not come */
    public function hasHeaders(): bool
    {
        if (!$this->hasHeaders && $this->failure !== null) {
            throw $this->failure;
        }

        return $this->hasHeaders;
    }

    /** @throws \Throwable when no more will come, although the body is not whole */
    public function hasPiece(): bool
    {
        if ($this->body === '' && $this->failure !== null) {
            throw $this->failure;
        }

        return $this->body !== '';
    }

    public function takePiece(): string
    {
        $piece = $this->body;
        $this->body = '';

        return $piece;
    }

    public function status(): int
    {
        return $this->status;
    }

    public function header(string $name): ?string
    {
        return $this->headers[$name] ?? null;
    }

    /** An empty line ends the headers, unless they are those of an interim answer (RFC 9110, 15.2). */
    private function readHeader(string $line): void
    {
        if (preg_match('#^HTTP/[\d.]+ (\d{3})#', $line, $match) === 1) {
            $this->status = (int) $match[1];
            $this->headers = [];
        } elseif ($line === '') {
            $this->hasHeaders = $this->status >= 200;
        } elseif (($colon = strpos($line, ':')) !== false) {
            $this->headers[strtolower(substr($line, 0, $colon))] = trim(substr($line, $colon + 1));
        }
    }
}
