<?php

declare(strict_types=1);

namespace Offhook\Internal;

/**
 * Reads Server-Sent Events from pieces of bytes. Keeps what is not yet a whole event.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
final class SseParser
{
    /** Reconnection delay that the server asks for; null until it has. */
    public ?int $retryMs = null;
    private string $rest = '';
    private string $event = '';
    /** @var list<string> */
    private array $data = [];
    private int $dataBytes = 0;

    /** @param int $eventBytesMax Length of an event at which the stream is given up. */
    public function __construct(private readonly int $eventBytesMax)
    {
    }

    /**
     * Gives the events that end in the piece. A line ends with `\n`, `\r\n` or `\r`; a `\r` at the end waits for what follows.
     *
     * @return list<array{event: string, data: string}>
     *
     * @throws \LengthException when an event is too long
     */
    public function push(string $piece): array
    {
        $lines = preg_split('/\r\n|\n|\r(?!\z)/', $this->rest . $piece) ?: [''];
        $this->rest = array_pop($lines);
        $events = [];
        foreach ($lines as $line) {
            if ($line !== '') {
                $this->field($line);
                continue;
            }
            $event = $this->end();
            if ($event !== null) {
                $events[] = $event;
            }
        }
        if (strlen($this->rest) + $this->dataBytes > $this->eventBytesMax) {
            throw new \LengthException("An event is over {$this->eventBytesMax} bytes long");
        }

        return $events;
    }

    private function field(string $line): void
    {
        $parts = explode(':', $line, 2);
        $name = $parts[0];
        $value = $parts[1] ?? '';
        $value = str_starts_with($value, ' ') ? substr($value, 1) : $value;
        if ($name === 'event') {
            $this->event = $value;
        } elseif ($name === 'retry' && preg_match('/^\d{1,9}$/D', $value) === 1) {
            $this->retryMs = (int) $value;
        } elseif ($name === 'data') {
            $this->data[] = $value;
            $this->dataBytes += strlen($value);
        }
    }

    /** @return array{event: string, data: string}|null */
    private function end(): ?array
    {
        [$event, $data] = [$this->event === '' ? 'message' : $this->event, $this->data];
        $this->event = '';
        $this->data = [];
        $this->dataBytes = 0;

        return $data === [] ? null : ['event' => $event, 'data' => implode("\n", $data)];
    }
}
