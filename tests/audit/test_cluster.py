"""Audits on a Dask cluster give the same bytes, and a killed worker loses nothing."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

import audit
from audit.claims import PureDP
from audit.doors.cli import main
from audit.errors import AuditError
from audit.sampling.isolated import cluster as module
from audit.sampling.isolated.cluster import connected
from audit.sampling.isolated.elsewhere import elsewhere, on_cluster

distributed = pytest.importorskip("distributed", reason="needs dp-audit[cluster]")
psutil = pytest.importorskip("psutil", reason="comes with distributed")


@pytest.fixture(scope="module")
def client():
    """Yield the client of a cluster with two workers, each in its own process."""
    terms = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**terms) as cluster, distributed.Client(cluster) as connection:
        yield connection


def slow(database, rng):
    """Run long enough that sending runs to workers saves time."""
    stop = time.perf_counter() + 3e-4
    while time.perf_counter() < stop:
        pass
    return sum(database) + rng.laplace(scale=2.0)


def bytes_of(result):
    return json.dumps(result.to_json()["result"])


@pytest.mark.parametrize("isolate", [False, True])
def test_the_blocks_of_an_audit_are_drawn_by_workers_and_give_the_bytes_of_one_core(
    client, isolate, monkeypatch
):
    for limit in ("_WORTH_A_CHILD", "_WORTH_SHARING"):
        monkeypatch.setattr(f"audit.sampling.isolated.workers.{limit}", 0.0)
    options = {"pairs": [([0], [1])], "budget": 500, "isolate": isolate}
    alone = audit.audit_privacy(slow, PureDP(1.0), **options)
    sent = []
    with audit.cluster(client):
        assert on_cluster()
        place = elsewhere(1)
        submit = place.submit
        monkeypatch.setattr(place, "submit", lambda *call: sent.append(call) or submit(*call))
        there = audit.audit_privacy(slow, PureDP(1.0), **options)
    assert not on_cluster()
    assert bytes_of(there) == bytes_of(alone)
    assert sent


def test_a_suite_on_a_cluster_saves_the_results_of_one_core(client, tmp_path, capsys):
    found = []
    for way in (("--jobs", "1"), ("--scheduler", client.scheduler.address)):
        folder = tmp_path / way[0]
        with pytest.raises(SystemExit) as left:
            main(["suite", "flawed-laplace-[hr]a*", "--budget", "1000", "--json", str(folder), *way])
        assert left.value.code == 0
        assert capsys.readouterr().err == ""
        files = sorted(folder.iterdir())
        found.append({path.name: json.loads(path.read_text())["result"] for path in files})
    assert len(found[0]) == 2
    assert json.dumps(found[1]) == json.dumps(found[0])


def waits_once(marker):
    """Write the id of this worker and wait to be killed.

    The second call returns "done".
    """
    if not marker.exists():
        marker.write_text(str(psutil.Process(os.getppid()).ppid()))  # the parent is the worker's template
        time.sleep(60)
    return "done"


def test_the_work_of_a_killed_worker_is_carried_out_by_another(client, tmp_path):
    marker = tmp_path / "worker"
    with audit.cluster(client):
        done = elsewhere(1).submit(waits_once, marker)
        while not (marker.exists() and marker.read_text()):
            time.sleep(0.01)
        os.kill(int(marker.read_text()), signal.SIGKILL)
        assert done.result(timeout=30) == "done"


def test_workers_of_other_versions_are_refused_in_one_line(client, monkeypatch):
    real = module.metadata.version
    monkeypatch.setattr(module.metadata, "version", lambda name: "9.9" if name == "dp-audit" else real(name))
    with (
        pytest.raises(AuditError, match=r"^The worker tcp://\S+ has dp-audit .*, this process has 9.9; "),
        audit.cluster(client),
    ):
        pass


def test_an_address_that_does_not_answer_gets_one_line(monkeypatch, capsys):
    monkeypatch.setattr(module, "_PATIENCE", 0.2)
    with pytest.raises(SystemExit) as left:
        main(["suite", "laplace", "--scheduler", "tcp://127.0.0.1:9"])
    assert left.value.code == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("dp-audit: No Dask scheduler answers at `--scheduler` tcp://127.0.0.1:9: ")
    assert len(told.err.splitlines()) == 1


def test_without_dask_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    install = r"needs Dask: `pip install 'dp-audit\[cluster\]'`"
    with pytest.raises(AuditError, match=install), connected("any"):
        pass


def test_jobs_and_a_scheduler_exclude_each_other(capsys):
    with pytest.raises(SystemExit) as left:
        main(["run", "laplace", "--jobs", "2", "--scheduler", "tcp://127.0.0.1:9"])
    assert left.value.code == 2
    assert "leave it out with --scheduler" in capsys.readouterr().err


def test_an_object_that_is_not_a_client_is_refused():
    with pytest.raises(AuditError, match=r"must be a `distributed\.Client`"), audit.cluster(Path()):
        pass
