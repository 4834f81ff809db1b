import './base.css';
import './lab.css';
