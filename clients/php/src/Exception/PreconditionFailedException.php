<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** 412: the resource is newer than the version of `ifMatch`. */
final class PreconditionFailedException extends ApiException
{
}
