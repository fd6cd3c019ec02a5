<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** 503: the server is full, stopping, or its database is unavailable. */
final class ServiceUnavailableException extends ApiException
{
}
