"""What a mounted bucket has done: requests and bytes as MinIO counts them."""

from __future__ import annotations

from benchbook.systems.minio_server import MinioServer

REQUESTS, SENT, RECEIVED = (
    "minio_api_requests_total",
    "minio_api_requests_traffic_sent_bytes",
    "minio_api_requests_traffic_received_bytes",
)
KINDS = {
    "storage_put_requests": ("PutObject", "PutObjectPart", "CopyObject", "CopyObjectPart"),
    "storage_get_requests": ("GetObject",),
    "storage_head_requests": ("HeadObject", "HeadBucket"),
    "storage_list_requests": ("ListObjectsV1", "ListObjectsV2", "ListObjects"),
}
"""Requests that are shown apart; all others are among ``storage_requests`` only."""


def counters(minio: MinioServer) -> dict[str, float]:
    """Return every counter that can be read now."""
    metrics = minio.metrics()
    requests = [(labels.get("name", ""), value) for labels, value in metrics.get(REQUESTS, [])]
    found = {"storage_requests": sum(value for _, value in requests)}
    for kind, names in KINDS.items():
        lowered = {name.lower() for name in names}
        found[kind] = sum(value for name, value in requests if name.lower() in lowered)
    found["storage_bucket_read_bytes"] = sum(value for _, value in metrics.get(SENT, []))
    found["storage_bucket_write_bytes"] = sum(value for _, value in metrics.get(RECEIVED, []))
    return found if metrics else {}
