<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** Base of all errors of this library, but those of wrong arguments (`\InvalidArgumentException`). */
abstract class OffhookException extends \RuntimeException
{
    /** HTTP status; null where there was no answer. */
    public function status(): ?int
    {
        return null;
    }
}
