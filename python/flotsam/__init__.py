"""Flotsam in Python: fluids and solids that push each other.

    import flotsam as fl

    world = fl.World(spacing=0.02)
    water = world.add_material(density=1000)
    world.add_body(fl.tank(1, 0.4, 0.6), position=(0, 0, 0.3))
    world.add_fluid(water, fl.box(0.4, 0.4, 0.4), position=(-0.3, 0, 0.2))
    world.advance(0.5)
    world.fluid['x']           # an array on the library's own memory
    world.picture()            # shows in a notebook

    run = fl.run('dam-break', size='draft')    # a scene, by the program; writes a run folder
    run.series['max_speed'], run.frames[-1].fluid.points, run.picture()
"""

from ._library import describe
from .errors import BadInput, Diverged, Error, IOFailed, NoMemory, Unsupported
from .pictures import Picture
from .plots import Plot
from .program import run, scenes
from .meshes import Mesh
from .runs import Frame, Run, Series
from .shapes import Shape, box, capsule, cylinder, heightfield, mesh, outline, plane, sheet, sphere, tank
from .parts import Body, Emitter, Fields, Joint, Material, Sink
from .scene import Scene, SceneWorld
from .world import State, World, method_parameters, methods, version

__version__ = version()
__all__ = [
    "BadInput", "Body", "Diverged", "Emitter", "Error", "Fields", "Frame", "IOFailed", "Joint", "Material", "Mesh", "NoMemory",
    "Picture", "Plot", "Run", "Scene", "SceneWorld", "Series", "Shape", "Sink", "State", "Unsupported", "World", "box", "capsule", "cylinder",
    "describe", "heightfield", "mesh", "method_parameters", "methods", "outline", "plane", "run", "scenes", "sheet",
    "sphere", "tank", "version",
]
