# VTK's own reader opens our files; skipped where its Python module is not installed.
source "$(dirname "$0")/common.sh"

if ! python=$(python_with vtk); then
  echo "skipped: the Python module vtk is not installed"
  exit 77
fi

expect_exit 0 "$flotsam" run tiny.json --frames 1 --no-picture --out run
cat >read.py <<'END'
import vtk
reader = vtk.vtkXMLPolyDataReader()
reader.SetFileName("run/particles_0001.vtp")
reader.Update()
data = reader.GetOutput()
points = data.GetPointData()
assert data.GetNumberOfPoints() == data.GetNumberOfVerts() > 64
for name in "id", "type", "material", "body", "velocity", "density", "pressure":
    assert points.GetArray(name) is not None, name
fluid = [k for k in range(data.GetNumberOfPoints()) if points.GetArray("type").GetValue(k) == 0]
assert sorted(points.GetArray("id").GetValue(k) for k in fluid) == list(range(64))
assert all(300 < points.GetArray("density").GetValue(k) < 1100 for k in fluid)
assert data.GetFieldData().GetArray("TimeValue").GetValue(0) == 0.02
END
expect_exit 0 "$python" read.py

# The whole run as a film: what run.pvd lists is there, at the times it says.
expect_exit 0 "$flotsam" run tiny.json --frames 3 --no-picture --out film
expect_exit 0 "$flotsam" convert film --frame 3 --to vtk --out legacy.vtk
expect_exit 0 "$flotsam" convert film --frame 3 --to ply --out points.ply
cat >film.py <<'END'
import glob, vtk, xml.etree.ElementTree as xml
root = xml.parse("film/run.pvd").getroot()
assert root.get("type") == "Collection"
entries = [(float(tag.get("timestep")), tag.get("file")) for tag in root.iter("DataSet")]
assert entries == sorted(entries) and [time for time, _ in entries] == [0, 0.02, 0.04, 0.06]
first = None
for time, name in entries:
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName("film/" + name)
    reader.Update()
    data = reader.GetOutput()
    assert data.GetFieldData().GetArray("TimeValue").GetValue(0) == time
    ids = data.GetPointData().GetArray("id")
    heights = {ids.GetValue(k): data.GetPoint(k)[1] for k in range(data.GetNumberOfPoints())
               if data.GetPointData().GetArray("type").GetValue(k) == 0}
    first = first or heights
    assert set(first) == set(heights)
assert sum(first.values()) > sum(heights.values()) # water falls

# Other formats hold the same.
legacy = vtk.vtkPolyDataReader()
legacy.SetFileName("legacy.vtk")
legacy.Update()
other = legacy.GetOutput()
assert other.GetNumberOfPoints() == other.GetNumberOfVerts() == data.GetNumberOfPoints()
assert other.GetFieldData().GetArray("TimeValue").GetValue(0) == 0.06
for k in range(data.GetNumberOfPoints()):
    assert other.GetPoint(k) == data.GetPoint(k)
for name in "id", "type", "material", "body", "velocity", "density", "pressure":
    a, b = data.GetPointData().GetArray(name), other.GetPointData().GetArray(name)
    assert a.GetDataType() == b.GetDataType(), name
    for k in range(data.GetNumberOfPoints()):
        assert a.GetTuple(k) == b.GetTuple(k), name
ply = vtk.vtkPLYReader()
ply.SetFileName("points.ply")
ply.Update()
assert ply.GetOutput().GetNumberOfPoints() == data.GetNumberOfPoints()
assert ply.GetOutput().GetPoint(7) == data.GetPoint(7)

# Bodies, where the run wrote them: closed surfaces around what they should be around.
for name in glob.glob("film/body_*.ply"):
    ply = vtk.vtkPLYReader()
    ply.SetFileName(name)
    ply.Update()
    edges = vtk.vtkFeatureEdges()
    edges.SetInputData(ply.GetOutput())
    edges.FeatureEdgesOff()
    edges.ManifoldEdgesOff()
    edges.Update()
    assert ply.GetOutput().GetNumberOfPolys() > 0 and edges.GetOutput().GetNumberOfCells() == 0, name
END
expect_exit 0 "$python" film.py

# ---- Surfaces: VTK finds no open edge, the volume that flotsam tells, and the frames that the film lists ----

cat >drop.json <<'END'
{ "schema_version": 1, "up": "z", "spacing": 0.05, "duration": 0.2, "frames_per_second": 25,
  "materials": { "water": {} },
  "boundaries": [ { "name": "tank", "shape": { "tank": [0.6, 0.4, 0.6] } } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.3, 0.4, 0.3] }, "corner": [0, 0, 0], "velocity": [1, 0, 0] } ] }
END
expect_exit 0 "$flotsam" run drop.json --frames 3 --no-picture --quiet --out drop
for format in ply obj vtp; do
  expect_exit 0 "$flotsam" surface drop --format "$format" --json
  cp out "$format.json"
done
cat >surface.py <<'END'
import json, vtk, xml.etree.ElementTree as xml

def is_closed(data):
    edges = vtk.vtkFeatureEdges()
    edges.SetInputData(data)
    edges.FeatureEdgesOff()
    edges.ManifoldEdgesOff()
    edges.BoundaryEdgesOn()
    edges.NonManifoldEdgesOn()
    edges.Update()
    return edges.GetOutput().GetNumberOfCells() == 0

# How well the normals of a surface agree with those that VTK finds by itself: the cosines.
def agreement(data):
    bare, finder = vtk.vtkPolyData(), vtk.vtkPolyDataNormals()
    bare.SetPoints(data.GetPoints())
    bare.SetPolys(data.GetPolys())
    finder.SetInputData(bare)
    finder.SplittingOff()
    finder.ConsistencyOff()
    finder.Update()
    found, told = finder.GetOutput().GetPointData().GetNormals(), data.GetPointData().GetArray("Normals")
    return [sum(a * b for a, b in zip(found.GetTuple(k), told.GetTuple(k))) for k in range(data.GetNumberOfPoints())]

readers = {"ply": vtk.vtkPLYReader, "obj": vtk.vtkOBJReader, "vtp": vtk.vtkXMLPolyDataReader}
for name, kind in readers.items():
    lines = [json.loads(text) for text in open(name + ".json")]
    assert [line["frame"] for line in lines] == [0, 1, 2, 3]
    for line in lines:
        reader = kind()
        reader.SetFileName(line["path"])
        reader.Update()
        data = reader.GetOutput()
        assert data.GetNumberOfPoints() == line["vertices"] and data.GetNumberOfPolys() == line["triangles"] > 100
        assert is_closed(data), line["path"]
        mass = vtk.vtkMassProperties()
        mass.SetInputData(data)
        mass.Update()
        assert abs(mass.GetVolume() - line["volume"]) < 1e-3 * line["volume"], (mass.GetVolume(), line["volume"])
        assert abs(mass.GetSurfaceArea() - line["area"]) < 1e-3 * line["area"]
        if name != "vtp":
            continue
        points = data.GetPointData()
        assert points.GetArray("Normals").GetNumberOfComponents() == points.GetArray("velocity").GetNumberOfComponents() == 3
        assert data.GetFieldData().GetArray("TimeValue").GetValue(0) == line["time"]
        speed = max(points.GetArray("velocity").GetTuple(k)[0] for k in range(data.GetNumberOfPoints()))
        assert 0.5 < speed < 5, speed
        cosines = agreement(data)
        assert sum(cosines) > 0.95 * len(cosines) and sum(c < 0 for c in cosines) <= len(cosines) // 100, min(cosines)
film = xml.parse("drop/surface/surface.pvd").getroot()
entries = [(float(tag.get("timestep")), tag.get("file")) for tag in film.iter("DataSet")]
assert entries == [(line["time"], line["path"].split("/")[-1]) for line in lines], entries
END
expect_exit 0 "$python" surface.py
finish
