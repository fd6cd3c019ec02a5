<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** 404: no such resource; `errorCode` says of which kind. */
final class NotFoundException extends ApiException
{
}
