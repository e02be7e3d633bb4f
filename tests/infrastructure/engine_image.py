"""The image built by a Docker engine, as a user builds it, on a base that comes from no registry.

The base is the same Debian as that of the native build (`image.py`), with this machine's certificates: a RUN fetches
packages as this machine does, and through its network, because the engine of the tests has none.
"""

from __future__ import annotations

import tarfile
import tempfile
from pathlib import Path

import docker
from docker.errors import BuildError, DockerException

from deploy.local.cache import Unprovided
from tests.infrastructure.image import DOCKERFILE, ROOT, debian

BASE, TAG = "suma-base", "test"
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
TRUSTED = ("PIP_CERT", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE")


def engine_image(client: docker.DockerClient) -> str:
    """Build deploy/Dockerfile in the engine; return the image's name.

    Raises:
        Unprovided: the base cannot be had.
    """
    name, arguments = f"suma:{TAG}", {"BASE": f"{BASE}:{TAG}"}
    try:
        _import_base(client)
        client.images.build(
            path=str(ROOT),
            dockerfile=str(DOCKERFILE.relative_to(ROOT)),
            tag=name,
            network_mode="host",
            buildargs=arguments,
            rm=True,
        )
    except BuildError as error:
        raise AssertionError("".join(str(line.get("stream", "")) for line in error.build_log)[-3000:]) from error
    except DockerException as error:
        raise Unprovided(f"the Docker engine failed: {error}") from error
    return name


def _import_base(client: docker.DockerClient) -> None:
    tree = debian()
    with tempfile.TemporaryDirectory(prefix="suma-base-") as folder:
        file = Path(folder, "base.tar")
        with tarfile.open(file, "w") as tar:
            tar.add(tree, ".", filter=lambda member: None if member.name == f"./{CERTIFICATES}" else member)
            tar.add(f"/{CERTIFICATES}", f"./{CERTIFICATES}")
        changes = [f"ENV {name}=/{CERTIFICATES}" for name in TRUSTED]
        client.api.import_image_from_file(str(file), BASE, TAG, changes=changes)
