<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** No connection, or one that was cut before the answer was whole. */
final class ConnectionFailedException extends OffhookException
{
}
