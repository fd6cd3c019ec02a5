<?php

declare(strict_types=1);

namespace Offhook;

use Offhook\Exception\ConnectionFailedException;
use Offhook\Exception\InvalidResponseException;
use Offhook\Exception\OffhookException;
use Offhook\Generated\Types;
use Offhook\Http\HttpResponse;
use Offhook\Internal\Body;
use Offhook\Internal\Limits;
use Offhook\Internal\Pause;
use Offhook\Internal\Retry;
use Offhook\Internal\RetryRule;
use Offhook\Internal\SseParser;

/**
 * What happens on calls, as it happens: an event stream that connects again after a cut. The events come by `foreach`;
 * leaving the loop ends the connection. Nothing is sent before.
 *
 * @phpstan-import-type LiveEvent from Types
 *
 * @implements \IteratorAggregate<int, LiveEvent>
 */
final class LiveEvents implements \IteratorAggregate
{
    private const RECONNECT_MS_MAX = 60_000;

    /** What the server asks for, unless it says otherwise. */
    private int $reconnectMs = 2_000;

    /** @param \Closure(): HttpResponse $open */
    public function __construct(
        private readonly \Closure $open,
        private readonly float $timeoutSeconds,
        private readonly int $maxRetries,
        private readonly Limits $limits,
    ) {
    }

    /**
     * @return \Generator<int, LiveEvent>
     *
     * @throws OffhookException
     */
    public function getIterator(): \Generator
    {
        $cuts = 0;
        while (true) {
            try {
                foreach ($this->connection() as $event) {
                    $cuts = 0;
                    yield $event;
                }
            } catch (OffhookException $error) {
                Pause::seconds($this->waitSeconds($error, $cuts));
                ++$cuts;
            }
        }
    }

    /** @throws OffhookException the error itself, where it is for good */
    private function waitSeconds(OffhookException $error, int $cuts): float
    {
        $after = $this->limits->maxRetryAfterSeconds;
        $waitSeconds = Retry::waitSeconds($error, RetryRule::Always, $cuts, $this->maxRetries, $after);
        if ($waitSeconds === null) {
            throw $error;
        }
        if (!$error instanceof ConnectionFailedException) {
            return $waitSeconds;
        }
        $soonSeconds = min($this->reconnectMs, self::RECONNECT_MS_MAX) / 1_000;

        // The first time what the server asks for; then at least the back-off.
        return $cuts === 0 ? $soonSeconds : max($soonSeconds, Retry::backOffSeconds($cuts - 1));
    }

    /**
     * The events of one connection, which always ends with an error.
     *
     * @return \Generator<int, LiveEvent, mixed, never>
     */
    private function connection(): \Generator
    {
        $response = ($this->open)();
        try {
            Body::requireType($response, '#^text/event-stream\b#i');
            $parser = new SseParser($this->limits->maxResponseBytes);
            while (($piece = $response->read($this->timeoutSeconds)) !== '') {
                $events = $parser->push($piece);
                $this->reconnectMs = $parser->retryMs ?? $this->reconnectMs;
                foreach ($events as $event) {
                    yield self::liveEventOf($event, $response->status());
                }
            }
            throw new ConnectionFailedException('Cannot go on with the events: the server ended the stream');
        } catch (\LengthException $error) {
            throw new InvalidResponseException('Cannot read an event: it is too long', $response->status(), $error);
        } finally {
            $response->close();
        }
    }

    /**
     * @param array{event: string, data: string} $event
     *
     * @return LiveEvent
     */
    private static function liveEventOf(array $event, int $status): array
    {
        try {
            $data = json_decode($event['data'], true, 512, JSON_THROW_ON_ERROR);
        } catch (\JsonException $error) {
            throw new InvalidResponseException('Cannot read an event: it is no JSON', $status, $error);
        }

        /** @var LiveEvent $whole */
        $whole = ['event' => $event['event'], 'data' => $data];

        return $whole;
    }
}
