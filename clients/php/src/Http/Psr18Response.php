<?php

declare(strict_types=1);

namespace Offhook\Http;

use Offhook\Exception\ConnectionFailedException;
use Offhook\Exception\RequestTimeoutException;
use Offhook\Internal\Deadline;
use Psr\Http\Message\ResponseInterface;

/** An answer of a PSR-18 client. */
final class Psr18Response implements HttpResponse
{
    private const PIECE_BYTES = 65_536;

    private int $receivedBytes = 0;

    public function __construct(
        private readonly string $operation,
        private readonly ResponseInterface $response,
    ) {
    }

    public function status(): int
    {
        return $this->response->getStatusCode();
    }

    public function header(string $name): ?string
    {
        return $this->response->hasHeader($name) ? $this->response->getHeaderLine($name) : null;
    }

    public function read(float $timeoutSeconds): string
    {
        $deadline = new Deadline($timeoutSeconds);
        $body = $this->response->getBody();
        while (!$body->eof()) {
            $piece = $this->piece();
            $this->receivedBytes += strlen($piece);
            if ($piece !== '') {
                return $piece;
            }
            if ($deadline->leftSeconds() <= 0.0) {
                $this->close();
                throw new RequestTimeoutException("Cannot do \"{$this->operation}\": nothing came in time");
            }
        }
        if ($this->receivedBytes < (int) $this->header('content-length')) {
            throw $this->cut();
        }

        return '';
    }

    public function close(): void
    {
        $this->response->getBody()->close();
    }

    private function piece(): string
    {
        try {
            return $this->response->getBody()->read(self::PIECE_BYTES);
        } catch (\RuntimeException $error) {
            throw $this->cut($error);
        }
    }

    private function cut(?\RuntimeException $error = null): ConnectionFailedException
    {
        $message = "Cannot do \"{$this->operation}\": the connection was cut before the answer was whole";

        return new ConnectionFailedException($message, 0, $error);
    }
}
