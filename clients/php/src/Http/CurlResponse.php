<?php

declare(strict_types=1);

namespace Offhook\Http;

use Offhook\Exception\ConnectionFailedException;
use Offhook\Exception\RequestTimeoutException;
use Offhook\Internal\Deadline;

/** An answer that curl reads no faster than the caller. */
final class CurlResponse implements HttpResponse
{
    private const SELECT_SECONDS_MAX = 1.0;
    /** Pause where curl has nothing to wait for yet, such as while it looks up a name. */
    private const PAUSE_MICROSECONDS = 1_000;

    private readonly CurlReceived $received;
    private readonly \CurlMultiHandle $multi;
    private readonly \CurlHandle $handle;
    private bool $isOpen = true;

    /**
     * Waits for the headers.
     *
     * @param array<int, mixed> $options
     */
    public function __construct(
        private readonly HttpRequest $request,
        array $options,
        float $timeoutSeconds,
    ) {
        $this->received = new CurlReceived();
        $this->multi = curl_multi_init();
        $this->handle = curl_init() ?: throw new \RuntimeException('Cannot send a request: curl has no handle to give');
        curl_setopt_array($this->handle, self::optionsOf($request, $timeoutSeconds, $this->received) + $options);
        curl_multi_add_handle($this->multi, $this->handle);
        $this->waitFor(fn (): bool => $this->received->hasHeaders(), $timeoutSeconds);
    }

    public function __destruct()
    {
        $this->close();
    }

    public function status(): int
    {
        return $this->received->status();
    }

    public function header(string $name): ?string
    {
        return $this->received->header($name);
    }

    public function read(float $timeoutSeconds): string
    {
        $this->waitFor(fn (): bool => $this->received->hasPiece(), $timeoutSeconds);

        return $this->received->takePiece();
    }

    public function close(): void
    {
        if (!$this->isOpen) {
            return;
        }
        $this->isOpen = false;
        curl_multi_remove_handle($this->multi, $this->handle);
        curl_multi_close($this->multi);
    }

    /**
     * Lets curl work until there is what is waited for, or the answer has ended.
     *
     * @param \Closure(): bool $isThere
     */
    private function waitFor(\Closure $isThere, float $timeoutSeconds): void
    {
        $deadline = new Deadline($timeoutSeconds);
        while ($this->isOpen && !$isThere()) {
            if ($this->work()) {
                continue;
            }
            $leftSeconds = $deadline->leftSeconds();
            if ($leftSeconds <= 0.0) {
                $this->close();
                throw new RequestTimeoutException("Cannot do \"{$this->request->operation}\": nothing came in time");
            }
            if (curl_multi_select($this->multi, min($leftSeconds, self::SELECT_SECONDS_MAX)) < 1) {
                usleep(self::PAUSE_MICROSECONDS);
            }
        }
        // After the end: the error that is still to come.
        $isThere();
    }

    /** Does what can be done without waiting; true where that ended the answer, and the connection with it. */
    private function work(): bool
    {
        $code = curl_multi_exec($this->multi, $running);
        $done = curl_multi_info_read($this->multi);
        if ($code === CURLM_OK && $done === false) {
            return false;
        }
        $this->close();
        $result = is_array($done) && is_int($done['result']) ? $done['result'] : CURLE_RECV_ERROR;
        if ($result !== CURLE_OK) {
            $this->received->fail($this->failure($result));
        } elseif (!$this->received->hasHeaders()) {
            throw $this->failure(CURLE_GOT_NOTHING);
        }

        return true;
    }

    private function failure(int $result): ConnectionFailedException
    {
        $why = curl_strerror($result) ?? "error $result";

        return new ConnectionFailedException(
            "Cannot do \"{$this->request->operation}\": no connection, or it was cut (curl: $why)",
        );
    }

    /** @return array<int, mixed> */
    private static function optionsOf(HttpRequest $request, float $timeoutSeconds, CurlReceived $received): array
    {
        // Without `Expect`, curl sends bodies at once.
        $lines = ['Expect:'];
        foreach ($request->headers as $name => $value) {
            $lines[] = "$name: $value";
        }

        return [
            CURLOPT_URL => $request->url,
            CURLOPT_CUSTOMREQUEST => $request->method,
            CURLOPT_HTTPHEADER => $lines,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_CONNECTTIMEOUT_MS => (int) ceil($timeoutSeconds * 1_000),
            CURLOPT_NOSIGNAL => true,
            CURLOPT_HEADERFUNCTION => $received->takeHeader(...),
            CURLOPT_WRITEFUNCTION => $received->takeBody(...),
        ] + ($request->body === null ? [] : [CURLOPT_POSTFIELDS => $request->body]);
    }
}
