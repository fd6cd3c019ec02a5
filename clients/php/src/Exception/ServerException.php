<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** 500, and every 5xx without a class of its own. */
final class ServerException extends ApiException
{
}
