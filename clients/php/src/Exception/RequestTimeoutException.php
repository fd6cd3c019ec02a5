<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** An attempt took longer than the time-out. */
final class RequestTimeoutException extends OffhookException
{
}
