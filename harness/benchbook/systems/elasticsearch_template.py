"""The two index templates of the suite, in the mappings of Elasticsearch 6."""

from __future__ import annotations

from typing import Any

NAMES = ("default", "aggregation")


def template(name: str) -> dict[str, Any]:
    """Return an index template.

    ``default`` keeps every document as it was sent and makes each value searchable. ``aggregation`` keeps columns
    only: documents are not stored, numbers are not searchable, and what is aggregated is exact all the same. Shards,
    copies and the pause between refreshes are the suite's.
    """
    aggregation = name == "aggregation"
    number = {"doc_values": True, **({"index": False} if aggregation else {})}
    return {
        "index_patterns": ["*"],
        "order": 0,
        "settings": {"index": {"number_of_shards": 5, "number_of_replicas": 0, "refresh_interval": "5s"}},
        "mappings": {
            "doc": {
                "_source": {"enabled": not aggregation},
                "properties": {"@timestamp": {"type": "date"}},
                "dynamic_templates": [
                    {"tags": {"match_mapping_type": "string", "mapping": {"type": "keyword"}}},
                    # Left to itself it takes numbers with a point for floats of 32 bits.
                    {"floats": {"match_mapping_type": "double", "mapping": {"type": "double", **number}}},
                    {"integers": {"match_mapping_type": "long", "mapping": {"type": "long", **number}}},
                ],
            }
        },
    }
