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
finish
